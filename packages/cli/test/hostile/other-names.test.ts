import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// For a name that a person writes, a malicious server answers the id of another person or token whose key this machine
// knows.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let liar: Liar
let admin: PersonMachine
let ada: PersonMachine
let mallory: PersonMachine
let malloryId: string

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  admin = await newKeyHolder(server, 'admin@example.com', liar.url)
  await admin.ok('skerry keys unlock && skerry org create "Other Names" && skerry init --yes --env development')
  await admin.ok('skerry env create production && skerry kms create billing')
  ada = await joined('ada@example.com')
  mallory = await joined('mallory@example.com')
  malloryId = JSON.parse(await mallory.ok('skerry whoami --json')).principal.id
  await admin.ok(`skerry grant ${mallory.email} --reader ${mallory.email}`)
})
afterEach(() => liar.repent())
afterAll(async () => {
  await admin.ok('skerry keys lock')
  await Promise.all([admin.remove(), ada.remove(), mallory.remove()])
  await liar.close()
  await server.close()
})

async function joined(email: string) {
  const person = await newKeyHolder(server, email)
  await admin.ok(`skerry invite create ${email}`)
  await person.ok('skerry invite accept')
  return person
}

/** Checks that the command is refused and that it sent nothing to the server. */
const refused = async (command: string, env: Record<string, string> = {}) => {
  // Starts to count the sent requests from here.
  liar.lie(/^$/, (body) => body)
  const { code, stdout, stderr } = await admin.shell(command, { env })
  expect([code, stdout], stderr).toEqual([3, ''])
  expect(liar.sent()).toEqual([])
  return stderr
}
const makeToken = async (name: string): Promise<string> =>
  JSON.parse(await admin.ok(`skerry token create ${name} --unbound --env development --json`)).serviceToken.id

/** Makes the server list the token under this name, not revoked, and no other token of that name. */
const showTokenAs = (id: string, name: string) =>
  liar.lie(/\/tokens/, (body) => ({
    ...body,
    tokens: body.tokens
      ?.filter((one: Json) => one.id === id || one.name !== name)
      .map((one: Json) => (one.id === id ? { ...one, name, revokedAt: null } : one)),
  }))
const showMalloryAs = (email: string) =>
  liar.lie(/\/members/, (body) => ({
    ...body,
    members: body.members
      ?.filter((one: Json) => one.userId === malloryId || one.email !== email)
      .map((one: Json) => (one.userId === malloryId ? { ...one, email } : one)),
  }))
/** Earlier releases stored the id of a token in place of its name. */
const forgetNameOf = (id: string, name: string) =>
  admin.ok(`sed -i 's/"name": "${name}"/"name": "${id}"/' ~/.config/skerry/known-keys.json`)

describe('a person who asks for access', () => {
  it('gets no key under the name of another person, although this machine knows the key', async () => {
    const id = (await mallory.ok('skerry access ask shop/production')).trim()
    showMalloryAs(ada.email)
    const told = await refused(`skerry access grant ${ada.email} --yes`)
    expect(told).toContain(`this machine knows this key as ${mallory.email}, not as ${ada.email}`)
    liar.repent()
    await mallory.ok(`skerry access withdraw ${id}`)
  })
})

describe('a token whose key this machine knows', () => {
  let dev: string
  let number = 0
  let name: string
  beforeEach(async () => {
    name = `dev-${++number}`
    dev = await makeToken(name)
  })

  it.each([
    ['an environment', 'skerry grant ci-prod --env production', 'the key of shop/production', '0'],
    ['an environment, in strict mode', 'skerry grant ci-prod --env production', 'the key of shop/production', '1'],
    [
      'every environment',
      'skerry grant --all --yes --token ci-prod',
      'the keys of shop/development, shop/production',
      '0',
    ],
    ['a managed key', 'skerry kms grant billing ci-prod', 'the managed key billing', '0'],
    [
      'an admin credential',
      'echo postgres://a:b@db.example.com/x | skerry lease target create db --schema app --provisioner ci-prod --yes',
      'the admin credential of db',
      '0',
    ],
  ])('gets no key of %s under the name of another token', async (_, command, what, strict) => {
    showTokenAs(dev, 'ci-prod')
    const told = await refused(command, { SKERRY_STRICT: strict })
    expect(told).toContain(`ci-prod would get ${what}, and this machine knows this key as ${name}, not as ci-prod`)
    expect(told).toContain(`run again with --reader ${name}`)
  })

  it('is not accepted by --reader with the name that the server shows', async () => {
    showTokenAs(dev, 'ci-prod')
    const { code, stderr } = await admin.shell('skerry grant ci-prod --env production --reader ci-prod')
    expect([code, liar.sent()], stderr).toEqual([2, []])
    expect(stderr).toContain('--reader ci-prod matches no reader of the key of shop/production')
  })

  it('must be accepted on a terminal under the name of another token', async () => {
    showTokenAs(dev, 'ci-prod')
    const question = 'give the key of shop/production to this reader'
    const { code, stdout } = await admin.terminal('skerry grant ci-prod --env production', [[question, 'n']])
    expect([code, liar.sent()]).toEqual([1, []])
    expect(stdout.replace(/\s+/g, ' ')).toContain(`this machine knows this key as ${name}, not as ci-prod`)
  })

  it('is known only by its id if an earlier release remembered no name', async () => {
    await forgetNameOf(dev, name)
    expect(await refused(`skerry grant ${name} --env production`)).toContain(
      `this machine knows this key by its id alone, not as ${name}`,
    )
    await admin.ok(`skerry grant ${dev} --env production`)
    await refused(`skerry kms grant billing ${name}`)
    await admin.ok(`skerry kms grant billing ${name} --reader ${dev}`)
    await admin.ok(`skerry env create staging-${number} && skerry grant ${name} --env staging-${number}`)
  })

  it('is refused under its name if it was revoked, or if another token now has the name', async () => {
    const newer = await makeToken(name)
    showTokenAs(dev, name)
    expect(await refused(`skerry grant ${name} --env production`)).toContain(`with --reader ${dev}`)
    liar.repent()
    await admin.ok(`skerry token revoke ${newer} --yes`)
    showTokenAs(newer, name)
    expect(await refused(`skerry grant ${name} --env production`)).toContain(`with --reader ${newer}`)
  })

  it('takes a new name from a person, but not from the server alone', async () => {
    await admin.ok(`skerry token rename ${name} renamed-${number}`)
    await admin.ok(`skerry grant renamed-${number} --env production`)
    showTokenAs(dev, 'ci-prod')
    expect(await refused('skerry token rename ci-prod ci-main')).toContain(`as renamed-${number}, not as ci-prod`)
    showTokenAs(dev, 'ci-main')
    expect(await refused('skerry grant ci-main --env production')).toContain(`as renamed-${number}, not as ci-main`)
  })

  it('does not get the name that the server shows if --reader gives its id', async () => {
    await admin.ok('mv ~/.config/skerry/known-keys.json ~/aside')
    showTokenAs(dev, 'ci-prod')
    await admin.ok(`skerry kms grant billing ${dev} --reader ${dev}`)
    showTokenAs(dev, 'ci-prod')
    expect(await refused('skerry grant ci-prod --env production')).toContain('by its id alone')
    await admin.ok('mv ~/aside ~/.config/skerry/known-keys.json')
  })

  it('is not the target of a recovery request under the name of another token', async () => {
    showTokenAs(dev, 'ci-prod')
    expect(await refused('skerry recovery request ci-prod')).toContain(`this key as ${name}, not as ci-prod`)
  })
})

describe('a person whose key this machine knows', () => {
  const known = () => 'this machine knows this key as mallory@example.com, not as ada@example.com'

  it.each([
    ['an environment', 'skerry grant ada@example.com --env production', 'the key of shop/production', '0'],
    ['an environment, in strict mode', 'skerry grant ada@example.com', 'the key of shop/development', '1'],
    ['a managed key', 'skerry kms grant billing ada@example.com', 'the managed key billing', '0'],
    [
      'a share of the recovery key',
      'skerry recovery setup --threshold 2 --custodian admin@example.com --custodian ada@example.com --yes',
      'a share of the recovery key',
      '0',
    ],
  ])('gets no key of %s under the e-mail address of another person', async (_, command, what, strict) => {
    showMalloryAs(ada.email)
    const told = await refused(command, { SKERRY_STRICT: strict })
    expect(told).toContain(`ada@example.com would get ${what}, and ${known()}`)
    expect(told).toContain('run again with --reader mallory@example.com')
    expect((await admin.shell(`${command} --reader ada@example.com`)).code).toBe(2)
    expect(liar.sent()).toEqual([])
  })

  it('is neither trusted nor the target of a recovery request under the e-mail address of another person', async () => {
    showMalloryAs(ada.email)
    const { code, stderr } = await admin.shell('skerry members trust ada@example.com')
    expect([code, stderr]).toEqual([2, expect.stringContaining('this machine knows this key as the key of mallory@')])
    expect(await refused('skerry recovery request ada@example.com')).toContain(known())
  })

  it('is known by the e-mail address in upper or lower case', async () => {
    showMalloryAs('Mallory@Example.com')
    await admin.ok('skerry grant Mallory@Example.com')
  })
})
