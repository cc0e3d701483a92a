import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { generateKeyPair } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server adds its own readers to the lists that clients wrap keys to. Each test checks what a person sees.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let liar: Liar
let alice: PersonMachine
let bob: PersonMachine
let mallory: string
let envId: string
const tokenId = newId('serviceToken')

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  mallory = (await generateKeyPair()).publicKeyJwk
  alice = await newKeyHolder(server, 'alice@example.com', liar.url)
  await alice.ok(`skerry keys unlock && skerry org create "Readers" && skerry init --yes --env development`)
  await alice.ok('skerry group create shared && skerry env create development --group shared')
  await alice.ok('skerry kms create billing && skerry invite create bob@example.com --role admin')
  bob = await newKeyHolder(server, 'bob@example.com')
  await bob.ok('skerry invite accept')
  await alice.ok('skerry grant bob@example.com --reader bob@example.com')
  envId = JSON.parse(await alice.ok('skerry env show development --json')).environment.id
})
afterEach(() => liar.repent())
afterAll(async () => {
  await alice.ok('skerry keys lock')
  await Promise.all([alice.remove(), bob.remove()])
  await liar.close()
  await server.close()
})

const evil = () => ({ principalType: 'service_token', principalId: tokenId, name: null, publicKeyJwk: mallory })
const addReader = () =>
  liar.lie(new RegExp(`/envs/${envId}/grantees`), (body) => ({ ...body, grantees: [...body.grantees, evil()] }))
/** Starts to count the sent requests from here. */
const countFromHere = () => liar.lie(/^$/, (body) => body)
const listed = (body: Json) => ({ ...body, tokens: [...body.tokens, tokenOfMallory()] })
const tokenOfMallory = () => ({
  id: tokenId,
  name: 'deploy',
  role: 'member',
  publicKeyJwk: mallory,
  environmentId: null,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
})
const showRecoveryKey = (publicKeyJwk: string) =>
  liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk: publicKeyJwk }))

/** Checks that the command is refused and that it sent only GET requests. */
const refused = async (command: string, env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await alice.shell(command, { env })
  expect([code, stdout], stderr).toEqual([3, ''])
  expect(liar.sent()).toEqual([])
  return stderr
}
const idOf = async (person: PersonMachine) => JSON.parse(await person.ok('skerry whoami --json')).principal.id
const custodians = '--custodian alice@example.com --custodian bob@example.com'
const isNew = 'this machine has not given them a key before'

describe('a service token that the server adds to the readers of an environment', () => {
  it.each([
    ['a re-key', 'skerry env rekey --yes', '0'],
    ['a re-key, in strict mode', 'skerry env rekey --yes', '1'],
    ['a branch', 'skerry branch create pr-1', '0'],
    ['a branch, in strict mode', 'skerry branch create pr-1', '1'],
    ['a composed group', 'skerry compose set shared --grant --yes', '0'],
  ])('gets no key from %s', async (_, command, strict) => {
    addReader()
    liar.lie(/\/tokens/, listed)
    const told = await refused(command, { SKERRY_STRICT: strict })
    expect(told).toContain(await fingerprintWords(mallory))
    expect(told).toContain('deploy would get the')
    expect(told).toContain(`${isNew}; nothing was changed`)
    expect(told).toContain('run again with --reader deploy')
    expect(told).not.toContain(bob.email)
  })

  it('must be accepted on a terminal, even with --yes', async () => {
    addReader()
    const question = 'give the new key of shop/development to this reader'
    const { stdout, code } = await alice.terminal('skerry env rekey --yes', [[question, 'n']])
    expect([code, liar.sent()]).toEqual([1, []])
    expect(stdout.replace(/\s+/g, ' ')).toContain(await fingerprintWords(mallory))
    expect(stdout).toContain('nothing was changed')
  })

  it('is refused on a terminal in strict mode', async () => {
    addReader()
    const { stdout, code } = await alice.terminal('env SKERRY_STRICT=1 skerry env rekey --yes')
    expect([code, liar.sent()]).toEqual([3, []])
    expect(stdout).toContain(`--reader ${tokenId}`)
  })

  it('gets no key if it appears only after the list of readers was checked', async () => {
    let asked = 0
    liar.lie(/\/grantees/, (body) => (++asked === 1 ? body : { ...body, grantees: [...body.grantees, evil()] }))
    const { code, stderr } = await alice.shell('skerry env rekey --yes')
    expect([code, liar.sent()], stderr).toEqual([5, []])
    expect(stderr).toContain(`${tokenId} was added while this command ran`)
  })

  it.each([
    ['a re-key', 'skerry env rekey --yes'],
    ['a branch', 'skerry branch create pr-9'],
  ])('gets no key under the caller’s own id, whatever id the server says the caller has: %s', async (_, command) => {
    const ownId = await idOf(alice)
    for (const me of [ownId, newId('user')]) {
      let asked = 0
      const asMallory = (one: Json) => (one.principalId === ownId ? { ...one, publicKeyJwk: mallory } : one)
      liar.repent()
      liar.lie(/\/v1\/me$/, (body) => ({ ...body, principal: { ...body.principal, id: me } }))
      liar.lie(/\/grantees/, (body) => (++asked === 1 ? body : { ...body, grantees: body.grantees.map(asMallory) }))
      const { code, stderr } = await alice.shell(command, { env: { SKERRY_STRICT: '1' } })
      expect([code, asked, liar.sent()], stderr).toEqual([me === ownId ? 3 : 5, 2, []])
      const told = 'the server shows a public key for you that is not yours'
      expect(stderr).toContain(me === ownId ? told : `${alice.email} was added while this command ran`)
    }
  })

  it('is not asked about when a private branch is created', async () => {
    addReader()
    const { code, stderr } = await alice.shell('skerry branch create mine --private')
    expect([code, stderr.includes(isNew)], stderr).toEqual([0, false])
    const { grantees } = JSON.parse(await alice.ok('skerry env show development --branch mine --json'))
    expect(grantees.map(({ name }: Json) => name)).toEqual([alice.email])
  })

  it('gets no next version of a managed key', async () => {
    liar.lie(/\/tokens/, listed)
    const { principalType, principalId } = evil()
    liar.lie(/\/kms\/keys\/[^/]+\/grants/, (body) => ({
      ...body,
      grants: [...body.grants, { principalType, principalId, versions: [1], createdAt: '2026-01-01T00:00:00.000Z' }],
    }))
    const told = await refused('skerry kms rotate billing --yes')
    expect(told).toContain(`would get the next version of managed key billing, and ${isNew}`)
  })
})

describe('an accepted reader', () => {
  const asNewMachine = async (env: string, accepting: string) => {
    await alice.ok(`skerry env create ${env} && skerry grant bob@example.com --env ${env}`)
    await alice.ok('mv ~/.config/skerry/known-readers.json ~/aside')
    await alice.ok(`${accepting} --reader ${await idOf(bob)}`)
    countFromHere()
  }
  afterEach(() => alice.ok('mv ~/aside ~/.config/skerry/known-readers.json'))

  it('of a branch must be accepted again for the next key of the parent', async () => {
    await asNewMachine('forked', 'skerry branch create one --env forked')
    const told = await refused('skerry env rekey forked --yes', { SKERRY_STRICT: '1' })
    expect(told).toMatch(new RegExp(`${bob.email} would get the new key of .*${isNew}`))
    const { code, stderr } = await alice.shell('skerry branch create two --env forked')
    expect([code, stderr.includes(isNew)], stderr).toEqual([0, false])
  })

  it('of a composed group must be accepted again for the next key of the environment', async () => {
    await alice.ok('skerry env create composed --group shared')
    await asNewMachine('composed', 'skerry compose set shared --env composed --grant --yes')
    const told = await refused('skerry env rekey composed --yes', { SKERRY_STRICT: '1' })
    expect(told).toMatch(new RegExp(`${bob.email} would get the new key of .*${isNew}`))
  })
})

describe('a reader of an earlier key', () => {
  it('gets no new key if this machine revoked the access and the server lists the reader again', async () => {
    await alice.ok('skerry env create staging && skerry grant bob@example.com --env staging')
    const { principalId, publicKeyJwk } = JSON.parse(await alice.ok('skerry env show staging --json')).grantees.find(
      ({ name }: Json) => name === bob.email,
    )
    await alice.ok(`skerry grant revoke ${principalId} --env staging --yes`)
    liar.lie(/\/grantees/, (body) => ({
      ...body,
      grantees: [...body.grantees, { principalType: 'user', principalId, name: bob.email, publicKeyJwk }],
    }))
    expect(await refused('skerry env rekey staging --yes')).toContain(
      `${bob.email} would get the new key of shop/staging, and ${isNew}`,
    )
  })

  it('must be accepted again if somebody else replaced the key since', async () => {
    await alice.ok('skerry env create shown && skerry grant bob@example.com --env shown')
    await bob.ok(`skerry env rekey shop/shown --yes --reader ${await idOf(alice)}`)
    await alice.ok('skerry env trust shown --yes')
    countFromHere()
    expect(await refused('skerry env rekey shown --yes')).toMatch(
      new RegExp(`${bob.email} would get the new key of shop/shown, and ${isNew}`),
    )
  })
})

describe('readers that a new machine sees for the first time', () => {
  it('are shown in one list, and are known after --reader has named them', async () => {
    await alice.ok('skerry env create preview && skerry grant bob@example.com --env preview')
    await alice.ok('skerry token create ci --app shop --env preview')
    expect((await alice.shell('skerry env rekey preview --yes')).stderr).not.toContain(isNew)
    await alice.ok('mv ~/.config/skerry/known-readers.json ~/aside')
    countFromHere()
    const told = await refused('skerry env rekey preview --yes')
    expect(told).toMatch(/^2 readers whom this machine does not know would get the new key of shop\/preview:$/m)
    expect(told).toContain((await bob.ok('skerry keys fingerprint')).trim())
    const options = /run again with (.*)/.exec(told)![1]
    expect((await alice.shell(`skerry env rekey preview --yes ${options}`)).code).toBe(0)
    const { code, stderr } = await alice.shell('skerry env rekey preview --yes')
    expect([code, stderr.includes(isNew)], stderr).toEqual([0, false])
    await alice.ok('mv ~/aside ~/.config/skerry/known-readers.json')
  })

  it('do not include readers of an environment that this machine has made', async () => {
    await alice.ok('skerry env create fresh')
    const { code, stderr } = await alice.shell('skerry env rekey fresh --yes')
    expect([code, stderr.includes(isNew)], stderr).toEqual([0, false])
  })
})

describe('a recovery key that the server invented', () => {
  it.each([
    ['a new environment', 'skerry env create more', '0'],
    ['a new environment, in strict mode', 'skerry env create more', '1'],
    ['a new application', 'skerry init --yes --env development --app more', '0'],
    ['a re-key', 'skerry env rekey --yes', '0'],
    ['a re-key, in strict mode', 'skerry env rekey --yes', '1'],
    ['a branch', 'skerry branch create pr-2', '0'],
    ['a branch, in strict mode', 'skerry branch create pr-2', '1'],
  ])('is refused by commands that make keys: %s', async (_, command, strict) => {
    showRecoveryKey(mallory)
    const told = await refused(command, { SKERRY_STRICT: strict })
    expect(told).toContain('this organization’s recovery key was not accepted on this machine yet; nothing was changed')
    expect(told).toContain(await fingerprintWords(mallory))
    expect(told).toContain('--reader recovery')
  })

  it('must be accepted on a terminal', async () => {
    showRecoveryKey(mallory)
    const answers: [string, string][] = [['give new keys to this recovery key', 'n']]
    const { stdout, code } = await alice.terminal('skerry env create more', answers)
    expect([code, liar.sent()], stdout).toEqual([1, []])
  })

  it('is refused on a terminal with SKERRY_STRICT=1', async () => {
    showRecoveryKey(mallory)
    const { stdout, code } = await alice.terminal('env SKERRY_STRICT=1 skerry env create more')
    expect([code, liar.sent()], stdout).toEqual([3, []])
    expect(stdout).toContain('--reader recovery')
  })
})

describe('a custodian that the server adds', () => {
  it('gets no share of the next recovery key', async () => {
    await alice.ok(`skerry recovery setup --threshold 2 ${custodians} --yes`)
    const userId = newId('user')
    liar.lie(/\/recovery$/, (body) => {
      const { recovery } = body
      return { ...body, recovery: { ...recovery, custodians: [...recovery.custodians, { userId, shareIndex: 3 }] } }
    })
    const member = { userId, email: 'carol@example.com', name: null, role: 'member', publicKeyJwk: mallory }
    const joinedAt = '2026-01-01T00:00:00.000Z'
    liar.lie(/\/members/, (body) => ({ ...body, members: [...body.members, { ...member, joinedAt }] }))
    const told = await refused('skerry recovery rotate --yes')
    expect(told).toContain(`would get a share of the recovery key, and ${isNew}`)
    expect(told).toContain(await fingerprintWords(mallory))
    // Not even the key of the custodian is remembered.
    expect(await alice.ok('cat ~/.config/skerry/known-keys.json')).not.toContain(userId)
    liar.repent()
    await alice.ok('skerry recovery rotate --yes')
    const pins = '~/.config/skerry/known-keys.json'
    await alice.ok(`cp ${pins} ~/pins && rm ${pins}`)
    countFromHere()
    expect((await alice.shell(`skerry recovery rotate --threshold 2 ${custodians} --reader ${bob.email}`)).code).toBe(2)
    expect((await alice.shell(`cat ${pins}`)).stdout).not.toContain('usr_')
    await alice.ok(`mv ~/pins ${pins}`)
  })
})

describe('a recovery key that this machine has seen and nobody has accepted', () => {
  it('covers nothing until a person names it or accepts it', async () => {
    await alice.ok('mv ~/.config/skerry/known-readers.json ~/aside')
    countFromHere()
    expect(await refused('skerry recovery cover')).toContain('--reader recovery')
    // A command that is refused for another reader has not accepted the recovery key.
    expect((await alice.shell('skerry branch create b2 --reader recovery')).code).toBe(3)
    expect(await refused('skerry recovery cover')).toContain('--reader recovery')
    await alice.ok('skerry recovery cover --reader recovery')
    expect((await alice.shell('skerry recovery cover')).stderr).not.toContain(isNew)
    await alice.ok('mv ~/aside ~/.config/skerry/known-readers.json')
  })
})

describe('--reader', () => {
  const rekey = 'skerry env rekey named --yes'

  it('names a reader by its e-mail address or the name of a token', async () => {
    const { stderr } = await alice.shell('skerry env create named --reader recovery')
    expect(stderr).toContain('only this credential, and the recovery custodians together, can read it')
    await alice.ok('skerry grant bob@example.com --env named')
    const mine = await alice.shell('skerry branch create mine --env named --private')
    expect(mine.stderr).toContain('only this credential, and the recovery custodians together, can read it')
    await alice.ok('skerry token create named-ci --app shop --env named')
    await alice.ok('mv ~/.config/skerry/known-readers.json ~/aside')
    countFromHere()
    await refused(`${rekey} --reader recovery --reader ${bob.email}`)
    await alice.ok(`${rekey} --reader recovery --reader ${bob.email} --reader named-ci`)
    await alice.ok('mv ~/aside ~/.config/skerry/known-readers.json && skerry env trust named --yes')
  })

  it.each([
    ['a re-key', `${rekey} --reader carol@example.com`, 'matches no reader of the new key of shop/named'],
    [
      'a private branch',
      'skerry branch create p --private --reader bob@example.com',
      'matches no reader of this command',
    ],
    ['a composed group', 'skerry compose set shared --yes --reader recovery', 'matches no reader of this command'],
    [
      'a folder that is set up again',
      'skerry init --yes --reader bob@example.com',
      'matches no reader of this command',
    ],
    ['a new environment', 'skerry env create more --reader bob@example.com', 'matches no reader of this command'],
  ])('is refused by %s if it matches no reader', async (_, command, message) => {
    countFromHere()
    const { code, stderr } = await alice.shell(command)
    expect([code, liar.sent()], stderr).toEqual([2, []])
    expect(stderr).toContain(`${message}; nothing was changed`)
    if (command.startsWith(rekey)) expect(stderr).toMatch(/use one of these: .*bob@example\.com.*recovery/)
  })

  it('does not match another account under a known e-mail address', async () => {
    const usurper = { ...evil(), principalType: 'user', principalId: newId('user'), name: bob.email }
    liar.lie(/\/grantees/, (body) => ({
      ...body,
      grantees: [...body.grantees.filter(({ name }: Json) => name !== bob.email), usurper],
    }))
    const { code, stderr } = await alice.shell(`${rekey} --reader ${bob.email}`)
    expect([code, liar.sent()], stderr).toEqual([2, []])
    expect(stderr).toContain(`--reader ${bob.email} matches no reader`)
  })
})
