import { beforeAll, describe, expect, test } from 'vitest'
import { entries, ids, keyOf, kidOf, otherHash } from '../../test/directory-scene.ts'
import { encodeBase64url } from '../base64url.ts'
import { canonicalJson } from '../canonical-json.ts'
import { growTree, type Hasher, openHasher } from '../merkle.ts'
import { environmentKeyCommitment, managedKeyCommitment, readersHash } from './commitments.ts'
import { type DirectoryEntry, formatEntry, parseEntry } from './entries.ts'
import { verifyEntry } from './proof.ts'
import { type DirectoryTree, directoryTree } from './tree.ts'

const malformed = { code: 'directory_malformed' }
const membersOf = (kind: string) =>
  entries.find(({ key }) => key.startsWith(`${kind}/`))!.value as unknown as Record<string, unknown>

describe('an entry', () => {
  test.each(entries)('$key has one text', (entry) => {
    const text = formatEntry(entry)
    expect(parseEntry(text)).toEqual(entry)
    expect(() => parseEntry(text.replace('",{', '", {'))).toThrow(expect.objectContaining(malformed))
    expect(() => parseEntry(` ${text}`)).toThrow(expect.objectContaining(malformed))
  })

  const kinds = ['person', 'token', 'worker', 'environment', 'key']
  test.each(kinds)('of the kind %s is refused without each of its members, and with another one', (kind) => {
    const { key } = entries.find((entry) => entry.key.startsWith(`${kind}/`))!
    const value = membersOf(kind)
    for (const member of Object.keys(value)) {
      const { [member]: _, ...less } = value
      expect(() => parseEntry(canonicalJson([key, less])), member).toThrow(expect.objectContaining(malformed))
      expect(() => parseEntry(canonicalJson([key, { ...value, [member]: 7 }])), member).toThrow(
        expect.objectContaining(malformed),
      )
    }
    expect(() => parseEntry(canonicalJson([key, { ...value, more: 1 }]))).toThrow(expect.objectContaining(malformed))
    expect(() => parseEntry(canonicalJson([key, null]))).toThrow(expect.objectContaining(malformed))
    expect(() => parseEntry(canonicalJson([key, value, 1]))).toThrow(expect.objectContaining(malformed))
  })

  test.each([
    'person/usr_1',
    'person/',
    `person/${ids.ci}`,
    `token/${ids.ada}`,
    'worker/../x',
    'environment/shop',
    'environment/Shop/production',
    'environment/shop/production/x',
    'environment/shop/',
    'environment/shop:',
    'environment/-shop/production',
    'environment/shop_x/production',
    'environment/shöp/production',
    'environment/shop/production\n',
    `environment/${'a'.repeat(64)}/production`,
    'key/Invoices',
    'key/',
    'key/a b',
  ])('is refused with the key %j', (key) => {
    const value = membersOf(key.slice(0, key.indexOf('/')))
    expect(() => parseEntry(canonicalJson([key, value]))).toThrow(expect.objectContaining(malformed))
  })

  test.each(['state/x', `state/${otherHash}`, 'guard/x', 'toString/x', '__proto__/x', 'person', '', '/'])(
    'of the kind in %j is refused as unknown',
    (key) => {
      expect(() => parseEntry(canonicalJson([key, {}]))).toThrow(
        expect.objectContaining({ code: 'directory_unsupported' }),
      )
    },
  )

  test.each<[string, string, object]>([
    ['a layer named twice', 'environment/shop/production', { layers: ['a:b', 'a:b'] }],
    ['a layer that is an application', 'environment/shop/production', { layers: ['a/b'] }],
    ['layers of a group', 'environment/shared:production', { layers: ['a:b'] }],
    ['a key that is no hash', 'environment/shop/production', { key: 'x' }],
    ['another kind of id', 'environment/shop/production', { id: ids.ada }],
    ['readers that are a list', 'environment/shop/production', { readers: [] }],
  ])('is refused with %s', (_, key, change) => {
    const value = { ...membersOf('environment'), layers: [], ...change }
    expect(() => parseEntry(canonicalJson([key, value]))).toThrow(expect.objectContaining(malformed))
  })

  test.each<[string, unknown]>([
    ['none', []],
    ['one twice', [1, 1].map((version) => ({ version, commitment: otherHash }))],
    ['a lower one later', [2, 1].map((version) => ({ version, commitment: otherHash }))],
    ['the version 0', [{ version: 0, commitment: otherHash }]],
    ['a version with both', [{ version: 1, commitment: otherHash, jwk: {} }]],
    ['an unknown kind of public key', [{ version: 1, jwk: { kty: 'RSA' } }]],
    [
      'one that encrypts and one that signs',
      [
        { version: 1, commitment: otherHash },
        { version: 2, jwk: { crv: 'Ed25519', kty: 'OKP', x: otherHash } },
      ],
    ],
  ])('of a managed key is refused with these versions: %s', (_, versions) => {
    const value = { ...membersOf('key'), versions }
    expect(() => parseEntry(canonicalJson(['key/invoices', value]))).toThrow(expect.objectContaining(malformed))
  })

  test('of a managed key may have a public key of either algorithm', () => {
    for (const jwk of [
      { crv: 'Ed25519', kty: 'OKP', x: otherHash },
      { crv: 'P-256', kty: 'EC', x: otherHash, y: otherHash },
    ]) {
      const text = canonicalJson(['key/invoices', { ...membersOf('key'), versions: [{ version: 1, jwk }] }])
      expect(parseEntry(text).value).toMatchObject({ versions: [{ jwk }] })
    }
  })

  test('is refused if it is too long, or no text', () => {
    for (const text of ['x'.repeat(65_537), undefined as unknown as string, '"\ud800"', '{}', '["a"]', '[1,{}]'])
      expect(() => parseEntry(text)).toThrow(expect.objectContaining(malformed))
  })
})

/** People with fixed ids, in the order of their keys. */
const people = (count: number): DirectoryEntry[] =>
  Array.from({ length: count }, (_, at) => ({
    key: `person/usr_${String(at).padStart(22, '0')}` as const,
    value: { email: `${at}@example.com`, kid: kidOf(at % 256) },
  }))

describe('the tree of a directory', () => {
  let hasher: Hasher
  beforeAll(async () => {
    hasher = await openHasher()
  })

  test('has the root of RFC 6962 over the sorted entries, and a path to each of them, for 0 to 33 entries', async () => {
    for (let count = 0; count <= 33; count++) {
      const list = people(count)
      const grown = growTree(hasher)
      for (const { key, value } of list) grown.append(hasher.leaf([key, value]))
      const tree = await directoryTree(list.toReversed())
      expect(tree).toMatchObject({ count, entries: encodeBase64url(grown.root()) })
      for (const entry of list)
        expect(await verifyEntry({ ...tree, version: 1 }, entry.key, tree.prove(entry.key)!)).toEqual(entry)
    }
  })

  test('is refused with two entries of one key', async () => {
    const [one] = people(1) as [DirectoryEntry]
    await expect(directoryTree([one, one])).rejects.toMatchObject(malformed)
  })

  test('has no proof of a key without an entry', async () => {
    expect((await directoryTree(people(3))).prove('person/usr_9')).toBeUndefined()
  })
})

describe('a proof', () => {
  let tree: DirectoryTree
  let head: { count: number; entries: string; version: number }
  const key = people(9)[4]!.key
  beforeAll(async () => {
    tree = await directoryTree(people(9))
    head = { ...tree, version: 1 }
  })
  const verify = (change: object, under = head) => verifyEntry(under, key, { ...tree.prove(key)!, ...change })

  test('shows the entry that was asked for', async () => {
    expect(await verify({})).toEqual(people(9)[4])
  })

  test('of another entry is refused, and the error names both', async () => {
    const other = people(9)[5]!.key
    await expect(verifyEntry(head, key, tree.prove(other)!)).rejects.toMatchObject({
      code: 'directory_unproven',
      expected: key,
      came: other,
    })
  })

  test('of another value is refused', async () => {
    const entry = formatEntry({ key: key as `person/${string}`, value: { email: 'eve@example.com', kid: kidOf(1) } })
    await expect(verify({ entry })).rejects.toMatchObject({ code: 'directory_unproven' })
  })

  test('is refused at another position', async () => {
    for (const index of [0, 1, 3, 5, 6, 7, 8])
      await expect(verify({ index })).rejects.toMatchObject({
        code: expect.stringMatching(/^(directory_unproven|malformed_proof)$/),
      })
    for (const index of [-1, 9, 4.5, Number.NaN, 2 ** 53, '4'])
      await expect(verify({ index })).rejects.toMatchObject({ code: 'malformed_proof' })
  })

  test('is refused under a number of entries to which its length does not belong', async () => {
    for (const count of [0, 4, 5, 8, 17, 1000, 2 ** 53])
      await expect(verify({}, { ...head, count })).rejects.toMatchObject({
        code: expect.stringMatching(/^(directory_unproven|malformed_proof)$/),
      })
  })

  test('is refused under another root of the tree', async () => {
    await expect(verify({}, { ...head, entries: otherHash })).rejects.toMatchObject({ code: 'directory_unproven' })
  })

  test('is refused with a path that is shorter, longer, changed or no list of hashes', async () => {
    const { path } = tree.prove(key)!
    for (const other of [[], path.slice(1), path.slice(0, -1), [...path, otherHash], [...path].reverse()])
      await expect(verify({ path: other }), String(other.length)).rejects.toMatchObject({
        code: expect.stringMatching(/^(directory_unproven|malformed_proof)$/),
      })
    for (const at of path.keys())
      await expect(verify({ path: path.with(at, otherHash) })).rejects.toMatchObject({ code: 'directory_unproven' })
    for (const other of [null, 'x', [1], ['x'], [`${path[0]}A`], Array(54).fill(otherHash)])
      await expect(verify({ path: other })).rejects.toMatchObject(malformed)
  })
})

describe('commitments', () => {
  const id = ids.production
  test('are the same for the same key, and differ in the id, the version, the key and the kind', async () => {
    const all = [
      environmentKeyCommitment(id, keyOf(1)),
      environmentKeyCommitment(id, keyOf(2)),
      environmentKeyCommitment(ids.shared, keyOf(1)),
      managedKeyCommitment(id, 1, keyOf(1)),
      managedKeyCommitment(id, 11, keyOf(1)),
      managedKeyCommitment(`${id}1`, 1, keyOf(1)),
    ]
    expect(new Set(await Promise.all(all)).size).toBe(all.length)
    expect(await environmentKeyCommitment(id, keyOf(1))).toBe(await all[0])
  })

  test('are refused for other lengths, and for ids that would be ambiguous', async () => {
    const refused = { code: 'invalid_argument' }
    await expect(environmentKeyCommitment(id, new Uint8Array(31))).rejects.toMatchObject(refused)
    await expect(environmentKeyCommitment('', keyOf(1))).rejects.toMatchObject(refused)
    await expect(environmentKeyCommitment('a\0b', keyOf(1))).rejects.toMatchObject(refused)
    for (const version of [0, 1.5, Number.NaN])
      await expect(managedKeyCommitment(id, version, keyOf(1))).rejects.toMatchObject(refused)
  })

  test('to readers do not depend on the order of the list, and on all else', async () => {
    const [ada, bob] = [[`person/${ids.ada}`, kidOf(1)] as const, [`person/${ids.bob}`, kidOf(2)] as const]
    const hash = await readersHash([ada, bob])
    expect(await readersHash([bob, ada])).toBe(hash)
    for (const others of [[], [ada], [ada, [bob[0], kidOf(3)] as const]])
      expect(await readersHash(others)).not.toBe(hash)
    for (const invalid of [[ada, ada], [['app/x', kidOf(1)] as const], [[ada[0], 'x'] as const]])
      await expect(readersHash(invalid)).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})
