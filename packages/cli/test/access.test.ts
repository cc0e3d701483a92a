import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// A member asks for access, and an admin answers.

let server: PeopleServer
let alice: PersonMachine
let bob: PersonMachine
let count = 0
beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  const number = ++count
  alice = await newKeyHolder(server, `alice-${number}@example.com`)
  bob = await newKeyHolder(server, `bob-${number}@example.com`)
  await alice.ok(`skerry org create "Asked ${number}" && skerry init --yes && skerry invite create ${bob.email}`)
  await bob.ok('skerry invite accept')
  return async () => {
    await alice.remove()
    await bob.remove()
  }
})

const ask = 'skerry access ask shop/staging shop/development --reason "to fix the checkout"'

describe('skerry access', () => {
  it('asks for environments, and grants them only under a public key that the admin accepts', async () => {
    const id = (await bob.ok(ask)).trim()
    expect(id).toMatch(/^acr_/)
    expect(await alice.ok('skerry access ls')).toContain('shop/development, shop/staging')
    const unknown = await alice.skerry(['access', 'grant', bob.email, '--yes'])
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('--reader')])
    expect(await bob.ok('skerry access ls')).not.toContain('granted')
    await alice.ok(`skerry access grant ${bob.email} --yes --reader ${bob.email}`)
    expect(await bob.ok('skerry access ls --status closed')).toMatch(/shop\/staging \(granted\) +granted/)
    expect(await bob.skerry(['run', '--app', 'shop', '--env', 'staging', '--', 'true'])).toMatchObject({ code: 0 })
  })

  it('is closed by ordinary grants, and declined with a reason that the person sees', async () => {
    await bob.ok('skerry access ask shop/staging')
    await alice.ok(`skerry grant ${bob.email} --app shop --env staging --reader ${bob.email}`)
    expect(JSON.parse(await alice.ok('skerry access ls --json'))).toEqual({ requests: [], open: 0 })
    const id = (await bob.ok('skerry access ask shop/production')).trim()
    await alice.ok(`skerry access decline ${id} --reason "use staging"`)
    const { requests } = JSON.parse(await bob.ok('skerry access ls --status closed --json'))
    expect(requests).toMatchObject([{ status: 'granted' }, { status: 'declined', answer: 'use staging' }])
  })

  it('says what stands in the way', async () => {
    const failed = async (machine: PersonMachine, command: string) => {
      const { code, stderr } = await machine.shell(command)
      return [code, stderr]
    }
    expect(await failed(alice, `skerry access grant ${bob.email}`)).toEqual([
      4,
      expect.stringContaining('no open request'),
    ])
    const id = (await bob.ok('skerry access ask shop/staging')).trim()
    expect(await failed(bob, 'skerry access ask shop/staging')).toEqual([
      5,
      expect.stringContaining('shop/staging already'),
    ])
    expect(await failed(bob, `skerry access decline ${id}`)).toEqual([3, expect.stringContaining('admin role')])
    await bob.ok(`skerry access withdraw ${id}`)
    expect(await bob.ok('skerry access ls')).not.toContain(id)
  })
})
