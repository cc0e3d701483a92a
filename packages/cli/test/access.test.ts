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

describe('the key of a member', () => {
  it('is accepted by a script only with --yes', async () => {
    const { code, stderr } = await alice.skerry(['members', 'trust', bob.email])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`This accepts the key of ${bob.email}.`)])
    const unknown = await alice.skerry(['grant', bob.email, '--env', 'staging'])
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('--reader')])
    await alice.ok(`skerry members trust ${bob.email} --yes && skerry grant ${bob.email} --env staging`)
  })

  it('is not granted by an admin with temporary access, who is told when this access ends', async () => {
    const carol = await newKeyHolder(server, `carol-${count}@example.com`)
    await alice.ok(`skerry members role ${bob.email} admin --yes && skerry invite create ${carol.email}`)
    await carol.ok('skerry invite accept')
    await alice.ok(`skerry grant ${bob.email} --env staging --for 8h --reader ${bob.email}`)
    await alice.ok(`skerry access plan ${carol.email} shop/staging shop/development`)
    const complete = 'skerry access complete shop/staging shop/development'
    const { code, stderr } = await bob.shell(`${complete} --member ${carol.email} --yes`)
    expect([code, stderr]).toEqual([
      expect.any(Number),
      expect.stringMatching(/you have the key of shop\/staging only until .*; another admin must grant it/),
    ])
    expect(stderr).toContain('you do not have the key of shop/development; another admin must grant the rest')
    await carol.remove()
  })

  it('is replaced after the removal with the command that is named', async () => {
    await alice.ok(`skerry grant ${bob.email} --env staging --reader ${bob.email}`)
    await alice.ok('skerry env protect staging --self-approval --yes')
    const { code, stderr } = await alice.skerry(['members', 'rm', bob.email, '--yes'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('  skerry env rekey shop/staging\n')])
  })

  it('cannot be granted by anybody after the last holder has lost it', async () => {
    await alice.write('../new', 'five new words of mine\n')
    await alice.ok('skerry keys replace --yes --new-file ../new')
    const { code, stderr } = await alice.skerry(['secrets', 'ls', '--env', 'staging'])
    expect([code, stderr]).toEqual([
      3,
      `skerry: you (${alice.email}) do not have the key of shop/staging; nobody has this key, so nobody can grant it. ` +
        'Recovery custodians can restore it if recovery covers the environment: see `skerry recovery status`\n',
    ])
  })

  it('is asked about once, with the names of the environments', async () => {
    const { code, stdout } = await alice.terminal(`skerry grant ${bob.email} --all`, [
      ['give the keys of shop/development, shop/staging, shop/production to this reader?', 'y'],
    ])
    expect([code, stdout]).toEqual([0, expect.stringContaining('granted shop/production')])
    // The key is known now, so the environments are asked about.
    const again = await alice.terminal(`skerry grant ${bob.email} --all`, [['Continue?', 'y']])
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('already has the key of shop/staging')])
  })
})

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

  it('names the reason why a request cannot be answered', async () => {
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
