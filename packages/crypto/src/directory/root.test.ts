import { beforeAll, describe, expect, test } from 'vitest'
import {
  day,
  firstBody,
  firstDraft,
  fixedSigner,
  ids,
  makeScene,
  org,
  otherHash,
  person,
  type Scene,
  secondDraft,
  signers,
  start,
  tokenSigner,
} from '../../test/directory-scene.ts'
import { signDocument } from './document.ts'
import { newRoot, nextRoot, openRoot, parseRoot, type RootBody, requireNextRoot } from './root.ts'
import type { DirectorySigner } from './signing.ts'

const { ada, adaLaptop, bob, cy, ci, rescueOne, rescueTwo, stranger } = signers
let scene: Scene

beforeAll(async () => {
  scene = await makeScene()
})

const sign = (body: unknown, ...by: DirectorySigner[]) => signDocument('or1', body, by.length === 0 ? [ada] : by)
const refusal = (code: string, detail = '') => ({ code, message: expect.stringContaining(detail) })

describe('a root', () => {
  test('is read as it was made', async () => {
    const body = newRoot(org, firstDraft, start)
    expect((await openRoot(await sign(body))).body).toEqual(body)
    expect(body).toMatchObject({ version: 1, prev: null, witnesses: [], quorum: 0, guarded: {} })
  })

  test('has a fresh nonce, which the next root keeps', async () => {
    const [one, two] = [newRoot(org, firstDraft, start), newRoot(org, firstDraft, start)]
    expect(one.nonce).not.toBe(two.nonce)
    const next = nextRoot(await openRoot(await sign(one)), firstDraft, start - day)
    expect(next).toMatchObject({ nonce: one.nonce, version: 2, issuedAt: start })
  })
})

/** Every rule about one root: the change of a valid one, and the refusal. */
const signer = firstBody.signers[0]!
const malformed: [title: string, change: object, detail: string][] = [
  ['an unknown member', { more: 1 }, 'unknown member'],
  ['another organization id', { org: 'org_1' }, 'root.org'],
  ['a nonce of another length', { nonce: `${firstBody.nonce}A` }, 'root.nonce'],
  ['a nonce in another spelling', { nonce: `${firstBody.nonce.slice(0, -1)}x` }, 'root.nonce'],
  ['the version 0', { version: 0 }, 'root.version'],
  ['a version that is no whole number', { version: 1.5 }, 'root.version'],
  ['a version as text', { version: '1' }, 'root.version'],
  ['a first root after another one', { prev: otherHash }, 'first root'],
  ['a second root after none', { version: 2 }, 'first root'],
  ['a malformed prev', { version: 2, prev: 'x' }, 'root.prev'],
  ['a time before 1970', { issuedAt: -1 }, 'root.issuedAt'],
  ['the threshold 0', { threshold: 0 }, 'root.threshold'],
  ['the threshold 9', { threshold: 9 }, 'root.threshold'],
  ['more needed persons than it names', { threshold: 2 }, 'number of persons'],
  ['no signer', { signers: [] }, 'root.signers'],
  ['signers that are no list', { signers: {} }, 'root.signers'],
  ['a signer named twice', { signers: [signer, signer] }, 'twice'],
  ['only tokens', { signers: [tokenSigner(ci, ids.ci)] }, 'number of persons'],
  ['a kid of another key', { signers: [{ ...signer, kid: otherHash }] }, 'thumbprint'],
  ['a key that is another signer’s', { signers: [{ ...signer, jwk: bob.jwk }] }, 'thumbprint'],
  ['another algorithm', { signers: [{ ...signer, alg: 'none' }] }, 'root.signers[0].alg'],
  ['a signer without algorithm', { signers: [{ ...signer, alg: undefined }] }, 'root.signers[0].alg'],
  ['a private key', { signers: [{ ...signer, jwk: { ...ada.jwk, d: otherHash } }] }, 'root.signers[0].jwk'],
  [
    'a key of another curve',
    { signers: [{ ...signer, jwk: { ...ada.jwk, crv: 'P-384' } }] },
    'root.signers[0].jwk.crv',
  ],
  [
    'a coordinate that is too short',
    { signers: [{ ...signer, jwk: { ...ada.jwk, x: 'AA' } }] },
    'root.signers[0].jwk.x',
  ],
  ['a signer who is person and token', { signers: [{ ...signer, token: ids.ci }] }, 'root.signers[0]'],
  ['a signer who is neither', { signers: [{ ...signer, person: undefined }] }, 'root.signers[0].token'],
  ['a malformed person', { signers: [{ ...signer, person: 'ada' }] }, 'root.signers[0].person'],
  ['a malformed policy key', { signers: [{ ...signer, policyKid: '' }] }, 'root.signers[0].policyKid'],
  ['rescue keys without any', { rescue: { threshold: 1, keys: [] } }, 'root.rescue.keys'],
  ['a rescue threshold of 0', { rescue: { ...firstBody.rescue, threshold: 0 } }, 'root.rescue.threshold'],
  ['more needed rescue keys than it names', { rescue: { ...firstBody.rescue, threshold: 3 } }, 'than their number'],
  [
    'a rescue key named twice',
    { rescue: { threshold: 1, keys: [firstBody.rescue!.keys[0], firstBody.rescue!.keys[0]] } },
    'twice',
  ],
  [
    'a rescue key with the kid of another',
    { rescue: { threshold: 1, keys: [{ ...firstBody.rescue!.keys[0], kid: otherHash }] } },
    'thumbprint',
  ],
  ['a malformed recovery key', { recovery: 'x' }, 'root.recovery'],
  ['an unknown form of wrapped keys', { minimum: { wrap: 'wd9', token: 'skerry' } }, 'root.minimum.wrap'],
  ['an unknown form of tokens', { minimum: { wrap: 'wd1', token: 'other' } }, 'root.minimum.token'],
  ['an unknown minimum', { minimum: { ...firstBody.minimum, sync: 'x' } }, 'root.minimum'],
]

const unsupported: [title: string, change: object][] = [
  ['another version of the format', { v: 2 }],
  ['the version as text', { v: '1' }],
  ['a witness', { witnesses: [{ name: 'one', alg: 'ES256', key: otherHash }] }],
  ['a quorum of witnesses', { quorum: 1 }],
  ['hours of freshness', { freshHours: 24 }],
  ['a guarded environment', { guarded: { [otherHash]: 2 } }],
  ['witnesses of another type', { witnesses: {} }],
  ['guarded environments of another type', { guarded: [] }],
]

describe('a root is refused with', () => {
  test.each(malformed)('%s', async (_, change, detail) => {
    await expect(openRoot(await sign({ ...firstBody, ...change }))).rejects.toMatchObject(
      refusal('directory_malformed', detail),
    )
  })

  test.each(unsupported)('%s, because this program cannot check it', async (_, change) => {
    await expect(openRoot(await sign({ ...firstBody, ...change }))).rejects.toMatchObject({
      code: 'directory_unsupported',
    })
  })

  test.each(Object.keys(firstBody))('no member %s', async (member) => {
    const { [member as keyof RootBody]: _, ...body } = firstBody
    await expect(openRoot(await sign(body))).rejects.toMatchObject({
      code: expect.stringMatching(/^directory_(malformed|unsupported)$/),
    })
  })

  test('33 signers', async () => {
    const many = await Promise.all(
      Array.from({ length: 33 }, async (_, at) => person(await fixedSigner(BigInt(at + 1)), ids.ada)),
    )
    await expect(openRoot(await sign({ ...firstBody, signers: many }))).rejects.toMatchObject(
      refusal('directory_malformed', 'root.signers'),
    )
  })

  test('a point that is not on the curve', async () => {
    const off = { ...ada.jwk, y: ada.jwk.x }
    const bytes = new TextEncoder().encode(JSON.stringify(off))
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    const kid = Buffer.from(digest).toString('base64url')
    const forged = await sign({ ...firstBody, signers: [{ ...signer, kid, jwk: off }] }, { ...ada, kid })
    await expect(openRoot(forged)).rejects.toMatchObject(refusal('directory_malformed', 'not a point'))
  })
})

describe('a root needs the signatures of its own signers', () => {
  test('one person, or a token, if one is enough', async () => {
    for (const by of [ada, adaLaptop, ci]) expect(await openRoot(await sign(firstBody, by))).toBeDefined()
  })

  test('and not those of strangers and rescue keys', async () => {
    for (const by of [[stranger], [bob], [rescueOne, rescueTwo]])
      await expect(openRoot(await sign(firstBody, ...by))).rejects.toMatchObject({
        code: 'directory_unsigned',
        expected: 'root 1 with 1 of its own signers',
        came: '0',
        signers: [ids.ada, ids.ci],
      })
  })

  test('of two persons, if two are needed: two machines of one person count once, and a token does not count', async () => {
    const { body } = scene.roots[1]
    expect(await openRoot(await sign(body, adaLaptop, cy))).toBeDefined()
    expect(await openRoot(await sign(body, ada, bob, stranger))).toBeDefined()
    for (const by of [[ada], [ada, adaLaptop], [ada, ci], [ada, adaLaptop, ci, stranger]])
      await expect(openRoot(await sign(body, ...by))).rejects.toMatchObject({
        code: 'directory_unsigned',
        came: '1',
        signers: [ids.ada, ids.bob, ids.cy],
      })
  })

  test('that are valid', async () => {
    const forged = { ...bob, kid: ada.kid }
    await expect(openRoot(await sign(firstBody, forged))).rejects.toMatchObject({ code: 'directory_unsigned' })
    expect(await parseRoot(await sign(firstBody, forged))).toBeDefined()
  })
})

describe('the next root', () => {
  const step = async (body: unknown, ...by: DirectorySigner[]) =>
    requireNextRoot(scene.roots[0], await openRoot(await sign(body, ...by)))
  const second = () => scene.roots[1].body

  test('needs its own persons and a signer of the root before', async () => {
    await expect(step(second(), ada, bob)).resolves.toBeUndefined()
    await expect(step(second(), cy, bob, ci)).resolves.toBeUndefined()
    await expect(step(second(), cy, bob)).rejects.toMatchObject({
      code: 'directory_unsigned',
      expected: '1 signers of root 1 or 2 of its rescue keys',
      came: '0 signers and 0 rescue keys',
      signers: [ids.ada, ids.ci],
    })
  })

  test('may have the agreement of enough rescue keys instead', async () => {
    await expect(step(second(), cy, bob, rescueOne, rescueTwo)).resolves.toBeUndefined()
    await expect(step(second(), cy, bob, rescueOne)).rejects.toMatchObject({ came: '0 signers and 1 rescue keys' })
    await expect(step(second(), cy, bob, rescueOne, stranger)).rejects.toMatchObject({ code: 'directory_unsigned' })
  })

  test('of a root with a threshold of two needs two of its persons', async () => {
    const before = scene.roots[1]
    const body = nextRoot(before, { ...firstDraft, rescue: null }, start + 2 * day)
    const next = async (...by: DirectorySigner[]) => requireNextRoot(before, await openRoot(await sign(body, ...by)))
    await expect(next(ada, cy)).resolves.toBeUndefined()
    for (const by of [[ada], [ada, adaLaptop], [ada, ci]])
      await expect(next(...by)).rejects.toMatchObject({
        code: 'directory_unsigned',
        signers: [ids.ada, ids.bob, ids.cy],
      })
  })

  test('never has the agreement of rescue keys that the root before does not name', async () => {
    const bare = { ...firstBody, rescue: null }
    const before = await openRoot(await sign(bare))
    const body = nextRoot(before, secondDraft, start)
    const next = await openRoot(await sign(body, cy, bob, rescueOne, rescueTwo))
    await expect(requireNextRoot(before, next)).rejects.toMatchObject({ expected: '1 signers of root 1' })
  })

  test.each([
    ['another organization', { org: 'org_1111111111111111111111' }, 'directory_other_org'],
    ['a version that is left out', { version: 3 }, 'directory_broken_chain'],
    ['the hash of another root', { prev: otherHash }, 'directory_broken_chain'],
    ['another nonce', { nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }, 'directory_broken_chain'],
    ['an earlier time', { issuedAt: start - 1 }, 'directory_broken_chain'],
  ])('is refused with %s, though everyone has signed it', async (_, change, code) => {
    await expect(step({ ...second(), ...change }, ada, bob, cy, ci, rescueOne, rescueTwo)).rejects.toMatchObject({
      code,
    })
  })
})
