import { tokens } from '@skerry/contract/tokens/endpoints'
import { newToken } from '@skerry/crypto/token'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { call } from '../../../server/test/world.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'

// Members try to get more than they were given. The server is honest. Each test checks what they see.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let owner: PersonMachine
/** A member who has the key of development, and an admin who does not. */
let holder: PersonMachine
let keyless: PersonMachine

beforeAll(async () => {
  server = await openPeopleServer()
  owner = await newKeyHolder(server, 'owner@example.com')
  await owner.ok('skerry keys unlock && skerry org create "Members" && skerry init --yes --env development')
  await owner.ok('echo -n one | skerry secrets set A')
  holder = await joined('holder@example.com', 'member')
  keyless = await joined('keyless@example.com', 'admin')
  await owner.ok(`skerry grant ${holder.email} --reader ${holder.email}`)
})
afterAll(async () => {
  for (const one of [owner, holder, keyless]) {
    await one.ok('skerry keys lock')
    await one.remove()
  }
  await server.close()
})

async function joined(email: string, role: 'admin' | 'member') {
  const person = await newKeyHolder(server, email)
  await owner.ok(`skerry invite create ${email} --role ${role}`)
  await person.write('skerry.json', await owner.read('skerry.json'))
  await person.ok('skerry invite accept && skerry keys unlock')
  return person
}

const refused = async (person: PersonMachine, command: string, env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await person.shell(command, { env })
  expect([code, stdout], stderr).toEqual([3, ''])
  return stderr
}
const asOther = 'use a credential with this permission; `skerry whoami` shows the current one\n'

describe('protection', () => {
  it('of a branch cannot be removed by deleting the branch and creating it again', async () => {
    await owner.ok('skerry env protect development --yes')
    const { principal } = JSON.parse(await owner.ok('skerry whoami --json'))
    await holder.ok(`skerry branch create forked --reader ${principal.id}`)
    const { stderr } = await holder.shell('echo -n two | skerry secrets set A --branch forked')
    expect(stderr).toContain('queued the write of A')
    expect(await refused(holder, 'skerry branch rm forked --yes')).toBe(
      `skerry: the branch is protected: deleting it needs the admin role; ${asOther}`,
    )
  })

  it('makes a re-key wait for approval, even one by an admin who holds the key', async () => {
    const { code, stderr } = await owner.shell('skerry env rekey --yes')
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('shop/development is protected, and this needs 1 approval'),
    ])
    expect(await owner.ok('skerry run -- printenv A')).toBe('one\n')
    await owner.ok('skerry env unprotect development --yes && skerry env rekey --yes')
    expect(await owner.ok('skerry run -- printenv A')).toBe('one\n')
  })
})

describe('a key', () => {
  it('cannot be granted by an admin who does not hold it, or by a holder who is not an admin', async () => {
    const missing =
      `skerry: you (${keyless.email}) do not have the key of shop/development; ask for it with ` +
      '`skerry access ask shop/development`. An admin who can read it can also run ' +
      `\`skerry grant ${keyless.email} --app shop --env development\`\n`
    for (const command of [`skerry grant ${keyless.email}`, 'skerry env rekey --yes'])
      expect(await refused(keyless, command)).toContain(missing)
    // The owner has replaced the key above, which this machine asks about.
    await holder.ok('skerry env trust --yes')
    expect(await refused(holder, `skerry grant ${keyless.email} --reader ${keyless.email}`)).toContain(
      'granting shop/development failed (this needs the admin role); nothing was granted; use a credential with this permission',
    )
  })
})

describe('a token that is bound to an environment', () => {
  it('manages only its own application and creates no tokens, even as an admin token', async () => {
    const { token, ...made } = await newToken('skerry')
    const { tokenId, tokenHash, publicKeyJwk } = made
    const { id } = JSON.parse(await owner.ok('skerry env show development --json')).environment
    const [org] = JSON.parse(await owner.ok('skerry org ls --json')).orgs
    const body = { name: 'bound', role: 'admin', environmentId: id, tokenId, tokenHash, publicKeyJwk }
    const as = `Bearer ${owner.env.SKERRY_TOKEN}`
    expect((await call(server.url, [], tokens.create, { as, params: { orgId: org.id }, body })).status).toBe(201)
    await owner.ok('skerry app create other && skerry env create development --app other')
    const env = { SKERRY_TOKEN: token }
    expect(await refused(owner, 'skerry token create free --admin', env)).toBe(
      `skerry: this token is bound to an environment; ${asOther}`,
    )
    expect(await refused(owner, 'skerry env protect development --app other', env)).toBe(
      `skerry: this token is bound to another application; ${asOther}`,
    )
  })
})
