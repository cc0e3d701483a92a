import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { generateKeyPair } from '@skerry/crypto/keys'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server lies about which public key belongs to whom.

let server: PeopleServer
let liar: Liar
let alice: PersonMachine
let bob: PersonMachine
let mallory: string
let count = 0

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  mallory = (await generateKeyPair()).publicKeyJwk
})
afterAll(async () => {
  await liar.close()
  await server.close()
})
beforeEach(async () => {
  const number = ++count
  alice = await newKeyHolder(server, `alice-${number}@example.com`, liar.url)
  await alice.ok(`skerry org create "Lied To ${number}" && skerry init --yes --env development`)
  await alice.ok(`skerry invite create bob-${number}@example.com`)
  bob = await newKeyHolder(server, `bob-${number}@example.com`)
  await bob.ok('skerry invite accept')
})
afterEach(async () => {
  liar.repent()
  await alice.remove()
  await bob.remove()
})

const swapKeyOf = (email: string) => (body: Json) => ({
  ...body,
  members: body.members.map((one: Json) => (one.email === email ? { ...one, publicKeyJwk: mallory } : one)),
})
const refusedBy = async (command: string) => {
  const { code, stderr } = await alice.shell(command)
  expect(code, stderr).toBe(3)
  return stderr
}

describe('the first key of a member that this machine sees', () => {
  const commands = [
    ['an environment', 'skerry grant {bob}', 'the key of shop/development'],
    ['every environment', 'skerry grant --all --yes --user {bob}', 'the key of shop/development'],
    [
      'a managed key',
      'skerry kms create billing >/dev/null 2>&1; skerry kms grant billing {bob}',
      'the managed key billing',
    ],
    [
      'a share of the recovery key',
      'skerry recovery setup --threshold 2 --custodian {alice} --custodian {bob} --yes',
      'a share of the recovery key',
    ],
  ] as const
  const commandFor = (command: string) => command.replace('{alice}', alice.email).replace('{bob}', bob.email)

  it.each(commands)(
    'is not trusted without a terminal until --reader names its owner: %s',
    async (_, command, what) => {
      liar.lie(/\/members/, swapKeyOf(bob.email))
      const told = await refusedBy(commandFor(command))
      expect(told).toMatch(
        new RegExp(`${bob.email} would get ${what}, and this machine has not given them a key before`),
      )
      expect(told).toContain(await fingerprintWords(mallory))
      expect(told).toContain(`run again with --reader ${bob.email}`)
      liar.repent()
      // The false key is not remembered.
      expect(await refusedBy(commandFor(command))).toContain((await bob.ok('skerry keys fingerprint')).trim())
      await alice.ok(`${commandFor(command)} --reader ${bob.email}`)
      await alice.ok(`skerry env create more && skerry grant ${bob.email} --env more`)
    },
  )

  it('must be accepted on a terminal, even with --yes', async () => {
    const question = 'give the key of shop/development to this reader'
    const no = await alice.terminal(`skerry grant --yes --user ${bob.email}`, [[question, 'n']])
    expect([no.code, no.stdout.includes('nothing was changed')]).toEqual([1, true])
    expect(no.stdout.replace(/\s+/g, ' ')).toContain((await bob.ok('skerry keys fingerprint')).trim())
    const yes = await alice.terminal(`skerry grant ${bob.email}`, [[question, 'y']])
    expect(yes.code).toBe(0)
  })

  it('is refused on a terminal with SKERRY_STRICT=1', async () => {
    const { stdout, code } = await alice.terminal(`env SKERRY_STRICT=1 skerry grant ${bob.email}`)
    expect([code, stdout.includes('run again with --reader')]).toEqual([3, true])
  })
})

describe('a server that has the public key of a person, but not the sealed private key', () => {
  it('gets it again by `keys passphrase`, if the public key is the known one', async () => {
    const leaveOut = (more: Json = {}) =>
      liar.lie(/\/me\/keys$/, (body) => ({ ...body, encryptedPrivateKey: null, ...more }))
    leaveOut()
    const locked = await alice.shell('skerry secrets get API_KEY')
    expect(locked).toMatchObject({ code: 3, stderr: expect.stringContaining('run `skerry keys passphrase` here') })
    await alice.write('../next', 'another long passphrase of alice')
    const reseal = 'skerry keys passphrase --new-file ../next'
    liar.repent()
    leaveOut({ publicKeyJwk: mallory })
    expect(await alice.shell(reseal)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('does not belong to your'),
    })
    liar.repent()
    leaveOut()
    await alice.ok(reseal)
    liar.repent()
    await alice.ok('SKERRY_PASSPHRASE_FILE=../next skerry keys passphrase --new-file ../passphrase')
  })
})

describe('another key for a member', () => {
  it('is not wrapped to, and the error shows the words of the known key', async () => {
    const words = (await bob.ok('skerry keys fingerprint')).trim()
    await alice.ok(`skerry grant ${bob.email} --reader ${bob.email}`)
    await alice.ok(`skerry env create production --app shop`)
    liar.lie(/\/members/, swapKeyOf(bob.email))
    const told = await refusedBy(`skerry grant ${bob.email} --env production`)
    expect(told).toContain(`${bob.email} has a different key than before`)
    expect(told).toContain(`skerry members trust ${bob.email}`)
    expect(told).toContain(words)
    expect(await alice.ok('skerry members ls')).toContain('CHANGED')
    liar.repent()
    expect(await alice.ok('skerry env show production')).not.toContain('usr_'.concat('bob'))
    const { grants } = JSON.parse(await alice.ok('skerry grant ls --env production --json'))
    expect(grants).toHaveLength(1)
  })

  it('is wrapped to after a person has compared and accepted it', async () => {
    await alice.ok(`skerry grant ${bob.email} --reader ${bob.email} && skerry env create production`)
    liar.lie(/\/members/, swapKeyOf(bob.email))
    expect((await alice.skerry(['members', 'trust', bob.email])).code).toBe(2)
    await refusedBy(`skerry grant ${bob.email} --env production`)
    await alice.ok(`skerry members trust ${bob.email} --yes && skerry grant ${bob.email} --env production`)
  })

  it('is not wrapped to when a branch is created for the readers of its parent', async () => {
    await alice.ok(`skerry grant ${bob.email} --reader ${bob.email}`)
    liar.lie(/\/grantees/, (body) => ({
      ...body,
      grantees: body.grantees.map((one: Json) => (one.name === null ? one : { ...one, publicKeyJwk: mallory })),
    }))
    expect(await refusedBy('skerry branch create pr-1')).toMatch(/shows a public key|different key than before/)
    liar.repent()
    expect(await alice.ok('skerry branch ls')).not.toContain('pr-1')
  })

  it('is refused if it is off the curve or not a key', async () => {
    const point = JSON.parse(mallory)
    for (const publicKeyJwk of ['{}', JSON.stringify({ ...point, y: point.x })]) {
      liar.repent()
      liar.lie(/\/members/, (body) => ({
        ...body,
        members: body.members.map((one: Json) => ({ ...one, publicKeyJwk })),
      }))
      const { code, stderr } = await alice.shell(`skerry grant ${bob.email}`)
      expect([code, stderr]).toEqual([1, expect.stringContaining('the key is malformed')])
    }
  })
})

describe('another public key for the caller', () => {
  const swap = (body: Json) => ({ ...body, publicKeyJwk: mallory })

  it.each([
    ['on a machine that knows the right one', false],
    ['on a machine that sees it for the first time', true],
  ])('is refused when the keyring is opened, %s', async (_, forget) => {
    if (forget) await alice.ok('rm -r ~/.local')
    liar.lie(/\/me\/keys/, swap)
    for (const command of ['keys unlock', 'secrets list --reveal']) {
      expect(await refusedBy(`skerry ${command}`)).toContain(
        'the server shows a public key for you that does not belong to your private key',
      )
    }
  })

  it('is refused among the readers of an environment', async () => {
    liar.lie(/\/grantees/, (body) => ({
      ...body,
      grantees: body.grantees.map((one: Json) => ({ ...one, publicKeyJwk: mallory })),
    }))
    expect(await refusedBy('skerry branch create pr-2')).toContain(
      'the server shows a public key for you that is not yours',
    )
  })

  it('is not made if the server says that there are no keys yet', async () => {
    liar.lie(/\/me\/keys/, () => ({ publicKeyJwk: null, encryptedPrivateKey: null }))
    expect(await refusedBy('skerry keys init')).toContain('no longer has the keys')
  })
})

describe('the sealed private key', () => {
  const reseal = (parameters: string) => (body: Json) => {
    const [prefix, , ...rest] = body.encryptedPrivateKey.split('.')
    return { ...body, encryptedPrivateKey: [prefix, parameters, ...rest].join('.') }
  }

  it.each([
    ['cheaper to guess', '8-1-1', 'the sealed key uses a key derivation so weak that its passphrase is easy to guess'],
    [
      'cheaper by a single pass',
      '65536-1-1',
      'the sealed key uses a key derivation so weak that its passphrase is easy to guess',
    ],
    [
      'too expensive for any machine',
      '4000000-20-16',
      'the sealed key uses a key derivation that needs too much memory or time',
    ],
  ])('is not opened if the server makes it %s', async (_, parameters, told) => {
    liar.lie(/\/me\/keys/, reseal(parameters))
    expect(await refusedBy('skerry keys unlock')).toContain(told)
  })

  it('of somebody else is not opened, even under the same passphrase', async () => {
    await bob.ok('skerry keys status')
    const other = JSON.parse(await bob.ok('cat ~/.local/state/skerry/keyring/*'))
    await alice.ok('rm -r ~/.local')
    liar.lie(/\/me\/keys/, () => other)
    expect(await refusedBy('skerry keys unlock')).toContain('does not open your keyring')
  })
})
