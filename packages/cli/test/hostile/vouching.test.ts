import { fingerprint } from '@skerry/crypto/digest'
import { generateKeyPair } from '@skerry/crypto/keys'
import { newSealingMaterial } from '@skerry/crypto/kms'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { otherClock } from '../clock.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server shows its own key to a signer, and hides the rows with which the signer's client compares it.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let liar: Liar
let ada: PersonMachine
let bob: PersonMachine
const others: PersonMachine[] = []
/** The public key of the server's operator, and its thumbprint. */
let eve: string
let evesKid: string
let ids: Readonly<Record<'ada' | 'bob' | 'ci', string>>

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'ada@example.com', liar.url)
  await ada.ok('skerry keys unlock && skerry org create "Vouched" && skerry init --yes --env development')
  bob = await newKeyHolder(server, 'bob@example.com', liar.url)
  await ada.ok('skerry invite create bob@example.com')
  await bob.ok('skerry invite accept')
  const token = await ada.ok('skerry token create ci --env development')
  await ada.ok('skerry kms create billing && skerry kms create releases --spec ecdsa-p256-sha256')
  const { members } = JSON.parse(await ada.ok('skerry members ls --json'))
  const idOf = (email: string): string => members.find((one: Json) => one.email === email).userId
  ids = { ada: idOf('ada@example.com'), bob: idOf('bob@example.com'), ci: token.slice(0, 26) }
  eve = (await generateKeyPair()).publicKeyJwk
  evesKid = await fingerprint(eve)
})
afterEach(() => liar.repent())
afterAll(async () => {
  await ada.ok('skerry keys lock')
  await Promise.all([ada, bob, ...others].map((machine) => machine?.remove()))
  await liar.close()
  await server.close()
})

const claim = (key: RegExp, change: (one: Json) => Json) =>
  liar.lie(/\/directory\/claims/, (body) => ({
    ...body,
    claims: body.claims.map((one: Json) => (key.test(one.key) ? change(one) : one)),
  }))
/** Claims that the server can read the environment, as the token `ci`. */
const claimEveAsReader = () =>
  liar.lie(/\/directory\/claims/, (body) => ({
    ...body,
    claims: body.claims.map((one: Json) => ({
      ...one,
      readers: one.readers?.map(([key, kid]: [string, string]) => [key, key === `token/${ids.ci}` ? evesKid : kid]),
    })),
  }))
const claimEvesKey = (id: string) =>
  claim(new RegExp(`/${id}$`), (one) => ({ ...one, value: { ...one.value, kid: evesKid } }))
const inMembers = (change: (members: Json[]) => Json[]) =>
  liar.lie(/\/members/, (body) => ({ ...body, members: body.members && change(body.members) }))
const showKey = (userId: string, publicKeyJwk: string | null) =>
  inMembers((all) => all.map((one) => (one.userId === userId ? { ...one, publicKeyJwk } : one)))
const leaveOut = (userId: string) => inMembers((all) => all.filter((one) => one.userId !== userId))
const leaveTokensOut = () => liar.lie(/\/tokens/, (body) => ({ ...body, tokens: body.tokens && [] }))

type Lie = [what: string, told: string, claimed: keyof typeof ids, lie: () => void]
const lies: Lie[] = [
  ['hides the key of a person', 'does not show it', 'bob', () => showKey(ids.bob, null)],
  ['leaves a person out', 'does not show it', 'bob', () => leaveOut(ids.bob)],
  ['leaves a token out', 'does not show it', 'ci', leaveTokensOut],
  ['shows its own key as the key of the signer', 'that is not yours', 'ada', () => showKey(ids.ada, eve)],
  ['claims its own key as the key of the signer', 'that is not yours', 'ada', () => leaveOut(ids.ada)],
]

const refuses = (command: string, [, told, claimed, lie]: Lie): Promise<void> => {
  claimEvesKey(ids[claimed])
  lie()
  return signsNothing(command, told)
}

async function signsNothing(command: string, told: string): Promise<void> {
  const { code, stdout, stderr } = await ada.shell(command)
  expect({ code, stdout, stderr }).toEqual({
    code: 3,
    stdout: expect.anything(),
    stderr: expect.stringContaining(told),
  })
  expect(liar.received().filter((body) => body.includes('"head"'))).toEqual([])
  liar.repent()
}

describe('the first signature', () => {
  it.each(lies)('is not made if the server %s', async (...lie) => {
    await refuses('skerry trust init --yes --reader bob@example.com', lie)
    await refuses('skerry trust init --yes', lie)
  })

  it('is not made for a reader with another key than in its own entry', async () => {
    claimEveAsReader()
    await signsNothing('skerry trust init --yes --reader bob@example.com', 'with another key than in the entry of ci')
  })

  it('is not made for another key than the one whose words a person compared', async () => {
    const { stderr } = await ada.shell('skerry trust init --yes')
    expect(stderr).toContain('run again with --reader bob@example.com')
    claimEvesKey(ids.bob)
    showKey(ids.bob, eve)
    await signsNothing(
      'skerry trust init --yes --reader bob@example.com',
      'the server shows another key of bob@example.com than the one whose words this machine showed before',
    )
  })

  describe('with a key that this machine knows otherwise', () => {
    const wrapped = async (bytes: Uint8Array<ArrayBuffer>) => {
      const { publicKeyJwk } = JSON.parse(await ada.ok('skerry keys fingerprint --json'))
      return wrapKey(bytes, publicKeyJwk)
    }
    it.each<[string, string, () => Promise<void>]>([
      [
        'an environment',
        'the key of shop/development was replaced',
        async () => {
          const wrappedDek = await wrapped(newDek())
          liar.lie(/\/envs\/\w+\/key$/, (body) => ({ ...body, wrappedDek }))
        },
      ],
      [
        'a managed key that encrypts',
        'version 1 of billing is a different key than before',
        async () => {
          const grants = [{ version: 1, wrappedKey: await wrapped(newSealingMaterial()) }]
          liar.lie(/\/kms\/keys\/\w+\/key$/, (body) => (body.purpose === 'encrypt' ? { ...body, grants } : body))
        },
      ],
      [
        'a managed key that signs',
        'version 1 of releases is a different key than before',
        async () => {
          const jwk = JSON.parse((await newSigningMaterial('ecdsa-p256-sha256')).publicKeyJwk)
          claim(/^key\/releases$/, (one) => ({ ...one, value: { ...one.value, versions: [{ version: 1, jwk }] } }))
        },
      ],
    ])('is not made for %s', async (_, told, lie) => {
      await lie()
      const { code, stderr } = await ada.shell('skerry trust init --yes --reader bob@example.com')
      expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(told) })
      expect(liar.received().filter((body) => body.includes('"head"'))).toEqual([])
    })
  })

  it('shows who reads what, and which groups and environments belong together', async () => {
    const { orgs } = JSON.parse(await ada.ok('skerry org ls --json'))
    const worker = `worker/${orgs[0].id}`
    claim(/^environment\//, (one) => ({
      ...one,
      value: { ...one.value, layers: ['shared:development'] },
      readers: [...one.readers, [worker, evesKid]],
    }))
    liar.lie(/\/directory\/claims/, ({ claims, ...body }) => ({
      ...body,
      claims: [
        ...claims,
        { key: worker, value: { kid: evesKid, heldBy: 'server' }, readers: null, signedReaders: null },
      ],
    }))
    const { code, stderr } = await ada.shell('skerry trust init --reader bob@example.com')
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('rotator of this server: new\n') })
    expect(stderr).toMatch(
      /environment shop\/development: new, includes shared:development, with the readers ada@example.com, ci, rotator/,
    )
    expect(stderr).toMatch(/token ci: new, bound to shop\/development\n/)
  })

  it('warns of another key of the rotator than this machine knows', async () => {
    await ada.ok('printf value | skerry secrets set ROTATED && skerry rotation create ROTATED --every 30d --yes')
    const kidOf = (key: string, kid: string) => (key.startsWith('worker/') ? evesKid : kid)
    claim(/^worker\//, (one) => ({ ...one, value: { ...one.value, kid: evesKid } }))
    claim(/^environment\//, (one) => ({
      ...one,
      readers: one.readers.map(([key, kid]: [string, string]) => [key, kidOf(key, kid)]),
    }))
    const { code, stderr } = await ada.shell('skerry trust init --reader bob@example.com')
    const told = 'claims another key of the rotator of this server than this machine knows'
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(told) })
    expect(liar.received().filter((body) => body.includes('"head"'))).toEqual([])
    liar.repent()
    await ada.ok('skerry rotation rm ROTATED --yes && skerry secrets rm ROTATED --yes')
  })

  it('warns if the server hides the recovery key that this machine knows', async () => {
    const custodians = '--custodian ada@example.com --custodian bob@example.com --reader bob@example.com'
    await ada.ok(`skerry recovery setup --threshold 2 ${custodians} --yes`)
    liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk: null }))
    const { code, stderr } = await ada.shell('skerry trust init --reader bob@example.com')
    const told = 'this machine knows a recovery key, but the server shows none'
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(told) })
  })

  it('signs a decoy, which has no key', async () => {
    await ada.ok('skerry honey create wiki')
    await ada.ok('skerry trust init --yes --reader bob@example.com')
    await ada.ok('skerry trust verify')
  })
})

describe('a head of three weeks ago, which may be older than the newest one', () => {
  it('is continued only by a signer who names it', async () => {
    const owner = await newKeyHolder(server, 'old@example.com', liar.url)
    others.push(owner)
    await owner.ok('skerry org create "Old" && skerry init --yes --env development')
    const past = { env: { NODE_OPTIONS: otherClock(-21) } }
    expect(await owner.start(['trust', 'init', '--yes'], past).ended).toMatchObject({ code: 0 })
    await owner.ok('skerry trust status')
    liar.lie(/never/, () => ({}))
    for (const command of [
      'sign --yes',
      'sign --yes --old-head 2',
      'rescue setup --yes',
      'signers edit --threshold 1',
    ]) {
      expect(await owner.shell(`skerry trust ${command}`)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('run again with `--old-head 1`'),
      })
      expect(liar.received().filter((body) => body.includes('"head"'))).toEqual([])
    }
    await owner.ok('skerry trust sign --yes --old-head 1')
    await owner.ok('skerry trust sign --yes && skerry trust verify')
  })
})

describe('a later signature', () => {
  it.each(lies)('is not made if the server %s', async (...lie) => {
    await refuses('skerry trust sign --yes', lie)
  })

  it('is not made for a reader with another key than in its own entry', async () => {
    claimEveAsReader()
    await signsNothing('skerry trust sign --yes', 'with another key than in the entry of ci')
  })

  it('is not made by --yes for a token with another name', async () => {
    const renamed = (one: Json) => (one.id === ids.ci ? { ...one, name: 'production' } : one)
    liar.lie(/\/tokens/, (body) => ({ ...body, tokens: body.tokens?.map(renamed) }))
    liar.lie(/\/directory\/claims/, (body) => ({
      ...body,
      claims: body.claims.map((one: Json) =>
        one.key === `token/${ids.ci}` ? { ...one, value: { ...one.value, name: 'production' } } : one,
      ),
    }))
    await signsNothing('skerry trust sign --yes', 'this machine does not know the key of production')
  })
})
