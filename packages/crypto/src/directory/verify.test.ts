import { beforeAll, describe, expect, test } from 'vitest'
import {
  day,
  firstBody,
  freshAnswer,
  freshTrust,
  headOf,
  ids,
  makeScene,
  org,
  otherHash,
  type Scene,
  signers,
  start,
} from '../../test/directory-scene.ts'
import { encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { canonicalJson } from '../canonical-json.ts'
import { CryptoError } from '../errors.ts'
import { signDocument } from './document.ts'
import { type HeadBody, nextHead, parseHead } from './head.ts'
import { nextRoot, parseRoot } from './root.ts'
import type { EntryProof } from './tree.ts'
import {
  type DirectoryAnswer,
  type DirectoryTrust,
  type KnownDirectory,
  verifyDirectory,
  verifyDirectoryEntry,
} from './verify.ts'

let scene: Scene
let answer: DirectoryAnswer
let trust: DirectoryTrust
let known: KnownDirectory

beforeAll(async () => {
  scene = await makeScene()
  answer = freshAnswer(scene)
  trust = freshTrust(scene)
  known = (await verifyDirectory(answer, trust)).known
})

const verify = (other: Partial<DirectoryAnswer>, more: Partial<DirectoryTrust> = {}) =>
  verifyDirectory({ ...answer, ...other }, { ...trust, ...more })
/** The answer to a client that knows the newest root and the newest head. */
const again = (other: Partial<DirectoryAnswer> = {}, more: Partial<DirectoryTrust> = {}) =>
  verify({ roots: [scene.rootTexts[1]], ...other }, { pins: [], known, ...more })
const head = (change: Partial<HeadBody>, by = signers.ada) =>
  signDocument('od1', { ...scene.heads[2].body, ...change }, [by])

describe('a client that knows a pin', () => {
  test('gets the newest root and head, and remembers them', async () => {
    const verified = await verify({})
    expect(verified.root).toEqual(scene.roots[1].body)
    expect(verified.head).toEqual(scene.heads[2].body)
    expect(verified.known).toEqual({
      org,
      root: { version: 2, hash: scene.roots[1].hash },
      head: { version: 3, hash: scene.heads[2].hash },
      time: start + 2 * day,
      pins: [scene.roots[0].hash],
    })
  })

  test('gets an entry with its proof', async () => {
    const key = 'environment/shop/production'
    const proof = scene.tree.prove(key) as EntryProof
    const { entry } = await verifyDirectoryEntry({ ...answer, proof }, key, trust)
    expect(entry.value).toMatchObject({ id: ids.production, layers: ['shared:production'] })
    const other = scene.tree.prove('environment/shared:production') as EntryProof
    await expect(verifyDirectoryEntry({ ...answer, proof: other }, key, trust)).rejects.toMatchObject({
      code: 'directory_unproven',
    })
  })

  test('needs no root before its pin', async () => {
    const pins = [{ root: scene.roots[1].hash, leastHead: 3 }]
    expect((await verify({ roots: [scene.rootTexts[1]] }, { pins })).root.version).toBe(2)
  })

  test('refuses a chain from another root, and says which it expected', async () => {
    await expect(verify({ roots: [scene.rootTexts[1]] })).rejects.toMatchObject({
      code: 'directory_unpinned',
      expected: `a chain from ${scene.roots[0].hash}`,
      came: `one from ${scene.roots[1].hash}`,
    })
    const forged = await signDocument('or1', { ...firstBody, recovery: otherHash }, [signers.ada])
    await expect(verify({ roots: [forged, scene.rootTexts[1]] })).rejects.toMatchObject({ code: 'directory_unpinned' })
  })

  test('refuses a chain without one of its pins', async () => {
    const pins = [...trust.pins, { root: otherHash, leastHead: 1 }]
    await expect(verify({}, { pins })).rejects.toMatchObject({
      code: 'directory_unpinned',
      expected: `a chain with the pinned root ${otherHash}`,
    })
  })

  test('refuses everything without a pin', async () => {
    await expect(verify({}, { pins: [] })).rejects.toMatchObject({ code: 'directory_unpinned', expected: 'a pin' })
  })

  test('refuses a chain with a gap, in another order, or with a root twice', async () => {
    const third = await rootAfterSecond()
    const [one, two] = scene.rootTexts
    for (const roots of [
      [one, third],
      [one, third, two],
      [one, one, two],
      [one, two, two],
    ])
      await expect(verify({ roots })).rejects.toMatchObject({ code: 'directory_broken_chain' })
  })

  test('refuses no root, and more than 1,000 steps', async () => {
    for (const roots of [[], Array(1002).fill(scene.rootTexts[0])])
      await expect(verify({ roots })).rejects.toMatchObject({ code: 'directory_malformed' })
  })

  test('refuses another organization than the one it expects', async () => {
    const other = 'org_1111111111111111111111'
    const refusal = { code: 'directory_other_org', expected: other, came: org }
    await expect(verify({}, { org: other })).rejects.toMatchObject(refusal)
    await expect(again({}, { known: { ...known, org: other } })).rejects.toMatchObject(refusal)
    expect((await verify({}, { org })).root.org).toBe(org)
  })

  test('refuses its own token if the root accepts no token of that form', async () => {
    await expect(verify({}, { token: 'classic' })).rejects.toMatchObject({ code: 'directory_too_weak' })
    expect((await verify({}, { token: 'skerry' })).root.version).toBe(2)
    const first = { roots: [scene.rootTexts[0]], heads: [scene.headTexts[0]] }
    expect((await verify(first, { token: 'classic' })).root.version).toBe(1)
  })
})

async function rootAfterSecond(): Promise<string> {
  const { threshold, signers: named, rescue, recovery, minimum } = scene.roots[1].body
  const body = nextRoot(scene.roots[1], { threshold, signers: named, rescue, recovery, minimum }, start + 3 * day)
  return signDocument('or1', body, [signers.ada, signers.bob])
}

describe('a head is refused', () => {
  test.each<[string, Partial<HeadBody>, string]>([
    ['of another organization', { org: 'org_1111111111111111111111' }, 'directory_other_org'],
    ['of another root', { root: otherHash }, 'directory_broken_chain'],
    ['with a malformed root', { root: 'x' }, 'directory_malformed'],
    ['with the version 0', { version: 0 }, 'directory_malformed'],
    ['with the version 1 and a head before it', { version: 1 }, 'directory_malformed'],
    ['without the head before it', { prev: null }, 'directory_malformed'],
    ['with a malformed hash of the head before it', { prev: 'x' }, 'directory_malformed'],
    ['dated before its root', { issuedAt: start }, 'directory_broken_chain'],
    ['with a time that is no whole number', { issuedAt: start + 0.5 }, 'directory_malformed'],
    ['with a negative number of entries', { count: -1 }, 'directory_malformed'],
    ['with entries that are no hash', { entries: '' }, 'directory_malformed'],
    ['with an unknown member', { more: 1 } as object, 'directory_malformed'],
    ['of another version of the format', { v: 2 } as object, 'directory_unsupported'],
  ])('%s', async (_, change, code) => {
    await expect(verify({ heads: [await head(change)] })).rejects.toMatchObject({ code })
  })

  test('without each of its members', async () => {
    for (const member of Object.keys(scene.heads[2].body)) {
      const { [member as keyof HeadBody]: _, ...body } = scene.heads[2].body
      const text = await signDocument('od1', body, [signers.ada])
      const code = expect.stringMatching(/^directory_(malformed|unsupported)$/)
      await expect(parseHead(text), member).rejects.toMatchObject({ code })
    }
  })

  test('without the signature of a signer of its root, and the error says who could sign', async () => {
    for (const by of [signers.stranger, signers.rescueOne, { ...signers.stranger, kid: signers.ada.kid }])
      await expect(verify({ heads: [await head({}, by)] })).rejects.toMatchObject({
        code: 'directory_unsigned',
        expected: 'head 3 with a signature of root 2',
        signers: [ids.ada, ids.ci, ids.bob, ids.cy],
        message: expect.stringContaining(`could be signed by ${ids.ada}`),
      })
  })

  test('if it is that of the root before', async () => {
    await expect(verify({ heads: [scene.headTexts[0]] })).rejects.toMatchObject({ code: 'directory_broken_chain' })
  })

  test('if there is none', async () => {
    await expect(verify({ heads: [] })).rejects.toMatchObject({ code: 'directory_malformed' })
  })

  test('below the version that a pin names', async () => {
    const pins = [{ root: scene.roots[0].hash, leastHead: 4 }]
    await expect(verify({}, { pins })).rejects.toMatchObject({
      code: 'directory_rolled_back',
      expected: 'head 4 or later, as pinned',
      came: 'head 3',
    })
  })
})

/** The body with one member changed, for every member at every depth: another value of the same type. */
function* changes(value: unknown): Generator<[path: string, changed: unknown]> {
  if (typeof value === 'string') yield ['', `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`]
  else if (typeof value === 'number') yield ['', value + 1]
  else if (value === null) yield ['', otherHash]
  else
    for (const [name, inner] of Object.entries(value as object))
      for (const [path, changed] of changes(inner)) {
        const copy = structuredClone(value) as Record<string, unknown>
        copy[name] = changed
        yield [`.${name}${path}`, copy]
      }
}

describe('every member counts', () => {
  test('of roots and heads under the signatures of the unchanged ones', async () => {
    const withBody = (text: string, body: unknown) => {
      const [prefix, , signatures] = text.split('.')
      return `${prefix}.${encodeBase64url(encodeUtf8(canonicalJson(body)))}.${signatures}`
    }
    for (const [path, body] of changes(scene.heads[2].body))
      await expect(verify({ heads: [withBody(scene.headTexts[2], body)] }), path).rejects.toThrow(CryptoError)
    for (const at of [0, 1] as const)
      for (const [path, body] of changes(scene.roots[at].body)) {
        const roots = scene.rootTexts.with(at, withBody(scene.rootTexts[at], body))
        await expect(verify({ roots }), path).rejects.toThrow(CryptoError)
      }
  })

  test('of a pinned root and a known head, though their signers sign the change', async () => {
    for (const [path, body] of changes(scene.roots[0].body)) {
      const forged = await signDocument('or1', body, [signers.ada])
      await expect(verify({ roots: [forged, scene.rootTexts[1]] }), path).rejects.toThrow(CryptoError)
    }
    for (const [path, body] of changes(scene.heads[2].body)) {
      const forged = await signDocument('od1', body, [signers.ada])
      await expect(again({ heads: [forged] }), path).rejects.toThrow(CryptoError)
    }
  })
})

describe('the age of a head', () => {
  const issuedAt = start + 2 * day
  test.each([
    ['read', 30],
    ['write', 14],
  ] as const)('is enough to %s for %d days', async (purpose, days) => {
    const now = issuedAt + days * day
    expect((await verify({}, { purpose, now })).head.version).toBe(3)
    await expect(verify({}, { purpose, now: now + 1 })).rejects.toMatchObject({
      code: 'directory_stale',
      came: 'head 3 dated 2026-01-03T00:00:00Z',
      signers: [ids.ada, ids.ci, ids.bob, ids.cy],
    })
  })

  test('may be 10 minutes in the future', async () => {
    expect((await verify({}, { now: issuedAt - 600 })).head.version).toBe(3)
    await expect(verify({}, { now: issuedAt - 601 })).rejects.toMatchObject({ code: 'directory_from_future' })
  })

  test('counts from the newest verified time if the clock of the machine was set back', async () => {
    expect((await again({}, { now: 0 })).head.version).toBe(3)
    const later = { ...known, time: issuedAt + 31 * day }
    await expect(again({}, { known: later, now: 0 })).rejects.toMatchObject({ code: 'directory_stale' })
  })

  test('is refused if the clock is not a number', async () => {
    await expect(verify({}, { now: Number.NaN })).rejects.toMatchObject({ code: 'directory_from_future' })
  })
})

describe('a client with memory', () => {
  test('accepts the head that it knows, and every chain from it', async () => {
    expect((await again()).known).toEqual({ ...known, pins: known.pins })
    const before = { ...known, head: { version: 2, hash: scene.heads[1].hash }, time: start + day }
    expect((await again({}, { known: before })).head.version).toBe(3)
    const heads = [scene.headTexts[1], scene.headTexts[2]]
    expect((await again({ heads }, { known: before })).head.version).toBe(3)
  })

  test('follows a new root together with its head', async () => {
    const third = await rootAfterSecond()
    const { text } = await headOf(
      nextHead(scene.heads[2], await parseRoot(third), scene.tree, start + 3 * day),
      signers.cy,
    )
    const verified = await again({ roots: [scene.rootTexts[1], third], heads: [text] })
    expect(verified.known).toMatchObject({ root: { version: 3 }, head: { version: 4 } })
  })

  test('refuses an older root, though its pin is in the chain', async () => {
    const first = { roots: [scene.rootTexts[0]], heads: [scene.headTexts[0]] }
    await expect(again(first, { pins: trust.pins })).rejects.toMatchObject({
      code: 'directory_rolled_back',
      expected: `a chain with root 2, ${scene.roots[1].hash}`,
    })
  })

  test('refuses an older head of the same root', async () => {
    await expect(again({ heads: [scene.headTexts[1]] })).rejects.toMatchObject({
      code: 'directory_rolled_back',
      expected: `head 3 (${scene.heads[2].hash}) or later`,
      came: `head 2 (${scene.heads[1].hash})`,
    })
  })

  test('refuses another head of the version that it knows', async () => {
    await expect(again({ heads: [await head({ count: 6 })] })).rejects.toMatchObject({ code: 'directory_rolled_back' })
  })

  test('refuses a newer head that does not continue the one that it knows', async () => {
    const fork = await headOf({ ...scene.heads[2].body, count: 6 }, signers.ada)
    const next = nextHead(fork.head, scene.roots[1], scene.tree, start + 3 * day)
    const { text } = await headOf(next, signers.ada)
    for (const heads of [[text], [fork.text, text], [scene.headTexts[2], text]])
      await expect(again({ heads })).rejects.toMatchObject({
        code: expect.stringMatching(/^directory_(broken_chain|rolled_back)$/),
      })
    const gap = await head({ version: 5 })
    await expect(again({ heads: [gap] })).rejects.toMatchObject({ code: 'directory_broken_chain', came: 'head 5' })
  })

  test('refuses a head that is dated before the one that it knows', async () => {
    const next = { ...nextHead(scene.heads[2], scene.roots[1], scene.tree, start + 3 * day), issuedAt: start + day }
    const { text } = await headOf(next, signers.ada)
    await expect(again({ heads: [text] })).rejects.toMatchObject({ code: 'directory_broken_chain' })
  })

  test('refuses a chain of heads that goes back to an earlier root', async () => {
    const third = await rootAfterSecond()
    const root = await parseRoot(third)
    const four = await headOf(nextHead(scene.heads[2], root, scene.tree, start + 3 * day), signers.cy)
    const back = { ...nextHead(four.head, root, scene.tree, start + 3 * day), root: scene.roots[1].hash }
    const five = await headOf(back, signers.cy)
    const six = await headOf(nextHead(five.head, root, scene.tree, start + 3 * day), signers.cy)
    const roots = [scene.rootTexts[1], third]
    await expect(again({ roots, heads: [four.text, five.text, six.text] })).rejects.toMatchObject({
      code: 'directory_broken_chain',
      expected: `head 5 of root ${root.hash} or later`,
    })
  })

  test('keeps the pins that it has seen in the chain, and asks for the others', async () => {
    expect((await again({}, { pins: trust.pins })).known.pins).toEqual([scene.roots[0].hash])
    await expect(again({}, { pins: trust.pins, known: { ...known, pins: [] } })).rejects.toMatchObject({
      code: 'directory_unpinned',
    })
    const whole = { roots: scene.rootTexts }
    expect((await again(whole, { pins: trust.pins, known: { ...known, pins: [] } })).known).toEqual(known)
  })
})
