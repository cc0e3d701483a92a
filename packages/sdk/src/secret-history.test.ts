import type { Answer, Body } from '@skerry/contract/endpoint'
import type { secrets } from '@skerry/contract/secrets/endpoints'
import { openDetails, sealDetails } from '@skerry/crypto/details'
import { ciphertextDigest, openFormerNames, sealFormerNames } from '@skerry/crypto/former-names'
import { newId } from '@skerry/crypto/random'
import { newDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import { describe, expect, test } from 'vitest'
import { startServer } from '../test/server.ts'
import { ids, now } from '../test/world.ts'
import { createClient } from './client.ts'
import { environmentKeyOf } from './environment-key.ts'
import { referringTo, renameSecret, unprovenVersions, versionOpener } from './secret-history.ts'
import { restoreSecret } from './secrets.ts'

const { orgId, envId } = ids
const { dek } = await environmentKeyOf(newDek())
const sealUnder = (name: string, value: string) => sealSecret(value, dek, envId, name)

type Page = Answer<typeof secrets.versions>

const wrong = Array.from({ length: 50 }, () => '-'.repeat(22))

const secretOf = (name: string, version: number, ciphertext: string) => ({
  id: newId('secret'),
  environmentId: envId,
  name,
  ciphertext,
  version,
  createdAt: now,
  updatedAt: now,
})

/** A page of a history. The ciphertexts are given oldest first, the last one is the current version. */
const pageOf = (ciphertexts: string[], formerNames: (string | null)[], record: string | null, more = {}): Page => ({
  versions: ciphertexts
    .map((ciphertext, index) => ({
      version: index + 1,
      ciphertext,
      createdByType: 'user',
      createdById: newId('user'),
      restoredFromVersion: null,
      createdAt: now,
      formerName: formerNames[index] ?? null,
    }))
    .toReversed(),
  currentVersion: ciphertexts.length,
  keySinceVersion: 1,
  formerNames: record,
  nextCursor: null,
  ...more,
})

async function world(page: Page) {
  const server = await startServer()
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'any' } })
  server.on('secrets.versions', () => ({ json: page }))
  server.on('secretDetails.list', () => ({ json: { details: [], nextCursor: null } }))
  server.on('secrets.rename', ({ body }) => {
    const { newName, ciphertext, expectedVersion } = body as Body<typeof secrets.rename>
    return { json: { secret: secretOf(newName, expectedVersion + 1, ciphertext), namedBy: [] } }
  })
  return { server, client, last: () => server.requests.at(-1)!.body as Record<string, string> }
}

describe('a rename', () => {
  test('sends the value under the new name, and a record of the former names and their versions', async () => {
    const [first, second] = [await sealUnder('A', 'one'), await sealUnder('B', 'two')]
    const before = await sealFormerNames(
      [{ name: 'A', since: 1, digests: [await ciphertextDigest(first)] }],
      dek,
      envId,
      'B',
    )
    const { client, last } = await world(pageOf([first, second], ['A', null], before))
    await renameSecret(client, orgId, secretOf('B', 2, second), 'C', dek)
    const { ciphertext = '', formerNames = '', ...rest } = last()
    expect(rest).toEqual({ newName: 'C', expectedVersion: 2 })
    expect(await openSecret(ciphertext, dek, envId, 'C')).toBe('two')
    expect(await openFormerNames(formerNames, dek, envId, 'C')).toEqual([
      { name: 'A', since: 1, digests: [await ciphertextDigest(first)] },
      { name: 'B', since: 2, digests: [await ciphertextDigest(second)] },
    ])
  })

  test('encrypts the description anew under the new name', async () => {
    const first = await sealUnder('A', 'one')
    const { server, client, last } = await world(pageOf([first], [null], null))
    const text = { description: 'Charges cards', tags: ['payments'] }
    const row = {
      environmentId: envId,
      name: 'A',
      sealed: await sealDetails(text, dek, envId, 'A'),
      ownerId: null,
      expiresAt: null,
      notNeeded: false,
      revision: 4,
      updatedByType: 'user',
      updatedById: newId('user'),
      updatedAt: now,
    }
    server.on('secretDetails.list', () => ({ json: { details: [row], nextCursor: null } }))
    await renameSecret(client, orgId, secretOf('A', 1, first), 'B', dek)
    const { details } = last() as unknown as { details: { sealed: string; expectedRevision: number } }
    expect(details.expectedRevision).toBe(4)
    expect(await openDetails(details.sealed, dek, envId, 'B')).toEqual(text)
  })

  test('is not sent if the secret has changed, or if its history has gaps', async () => {
    const first = await sealUnder('A', 'one')
    const gap = pageOf([first, first, await sealUnder('A', 'three')], [], null)
    gap.versions.splice(1, 1)
    for (const [page, secret, code] of [
      [pageOf([await sealUnder('A', 'other')], [], null), secretOf('A', 1, first), 'conflict'],
      [gap, secretOf('A', 3, gap.versions[0]!.ciphertext), 'malformed_answer'],
    ] as const) {
      const { server, client } = await world(page)
      await expect(renameSecret(client, orgId, secret, 'B', dek)).rejects.toMatchObject({ code })
      expect(server.requests.filter(({ line }) => line.startsWith('POST'))).toEqual([])
    }
  })

  test.each([
    ['does not open', 2, async () => sealFormerNames([], dek, envId, 'OTHER')],
    ['has other versions', 3, async () => sealFormerNames([{ name: 'X', since: 1, digests: wrong }], dek, envId, 'B')],
    ['begins later', 3, async () => sealFormerNames([{ name: 'X', since: 70, digests: wrong }], dek, envId, 'B')],
  ])(
    'after a holder of the key stored a record that %s records only proven versions, and says which it lacks',
    async (_, since, bad) => {
      const [first, second, third] = [
        await sealUnder('A', 'one'),
        await sealUnder('B', 'two'),
        await sealUnder('B', 'three'),
      ]
      const { client, last } = await world(pageOf([first, second, third], ['A', null, null], await bad()))
      const { unproven } = await renameSecret(client, orgId, secretOf('B', 3, third), 'C', dek)
      expect(unproven).toEqual(since === 2 ? [1] : [1, 2])
      const digests = await Promise.all([second, third].slice(since - 2).map(ciphertextDigest))
      expect(await openFormerNames(last().formerNames ?? '', dek, envId, 'C')).toEqual([{ name: 'B', since, digests }])
    },
  )

  test('lists the values that refer to the former name', async () => {
    const rows = [
      { environmentId: envId, name: 'URL', ciphertext: await sealUnder('URL', 'postgres://${A}/x') },
      { environmentId: envId, name: 'TEXT', ciphertext: await sealUnder('TEXT', '$${A} and ${AB}') },
      { environmentId: envId, name: 'CLOSED', ciphertext: await sealUnder('OTHER', '${A}') },
    ]
    expect(await referringTo(rows, 'A', dek)).toEqual(['URL'])
  })
})

describe('a version from before a rename', () => {
  const openers = async (page: Page) => versionOpener(page, { envId, name: 'B' }, dek)

  test('opens under its former name, if it is the one that was there when the secret was renamed', async () => {
    const [first, second] = [await sealUnder('A', 'one'), await sealUnder('B', 'two')]
    const record = await sealFormerNames(
      [{ name: 'A', since: 1, digests: [await ciphertextDigest(first)] }],
      dek,
      envId,
      'B',
    )
    const page = pageOf([first, second], ['A', null], record)
    const open = await openers(page)
    expect(await Promise.all(page.versions.map(open))).toEqual(['two', 'one'])
  })

  test('cannot be a value of another secret, whatever name the server gives for it', async () => {
    const [own, newA, other] = [
      await sealUnder('A', 'one'),
      await sealUnder('A', 'of the secret that is called A today'),
      await sealUnder('OTHER', 'of another secret'),
    ]
    const current = await sealUnder('B', 'two')
    const record = await sealFormerNames(
      [{ name: 'A', since: 1, digests: [await ciphertextDigest(own)] }],
      dek,
      envId,
      'B',
    )
    const recordOfOther = await sealFormerNames(
      [{ name: 'OTHER', since: 1, digests: [await ciphertextDigest(other)] }],
      dek,
      envId,
      'C',
    )
    for (const [ciphertext, formerName, shown] of [
      [newA, 'A', record],
      [other, 'OTHER', record],
      [other, 'OTHER', recordOfOther],
      [other, 'OTHER', null],
    ] as const) {
      const page = pageOf([ciphertext, current], [formerName, null], shown)
      const open = await openers(page)
      await expect(open(page.versions[1]!)).rejects.toMatchObject({ code: 'decryption_failed' })
      expect(await open(page.versions[0]!)).toBe('two')
    }
  })

  test('does not open with a wrong record, with which versions of the present name still open', async () => {
    const ciphertexts = [await sealUnder('A', 'one'), await sealUnder('B', 'two'), await sealUnder('B', 'three')]
    for (const record of [
      'sn1.of-somebody',
      await sealFormerNames([], dek, envId, 'OTHER'),
      await sealFormerNames([{ name: 'X', since: 1, digests: wrong }], dek, envId, 'B'),
      await sealFormerNames([{ name: 'X', since: 70, digests: wrong }], dek, envId, 'B'),
    ]) {
      const page = pageOf(ciphertexts, ['A', null, null], record)
      const open = await openers(page)
      const [third, second, first] = page.versions
      expect([await open(third!), await open(second!)]).toEqual(['three', 'two'])
      await expect(open(first!)).rejects.toMatchObject({ code: 'decryption_failed' })
      expect(await unprovenVersions(page, { envId, name: 'B' }, dek)).toContain(1)
    }
  })

  test('is unproven if the server hides the record or shows another version in its place', async () => {
    const [first, second, third] = [
      await sealUnder('A', 'one'),
      await sealUnder('B', 'two'),
      await sealUnder('B', 'three'),
    ]
    const digests = [await ciphertextDigest(first)]
    const record = await sealFormerNames([{ name: 'A', since: 1, digests }], dek, envId, 'B')
    for (const [page, expected] of [
      [pageOf([first, second, third], ['A', null, null], record), []],
      [pageOf([first, second, third], ['A', null, null], null), [1]],
      [pageOf([second, second, third], [null, null, null], record), [1]],
      [pageOf([first, second, third], ['A', null, null], null, { keySinceVersion: 2 }), []],
    ] as const)
      expect(await unprovenVersions(page, { envId, name: 'B' }, dek)).toEqual(expected)
  })

  test('is restored with its value encrypted anew, and only if the key can be opened', async () => {
    const [first, second] = [await sealUnder('A', 'one'), await sealUnder('B', 'two')]
    const record = await sealFormerNames(
      [{ name: 'A', since: 1, digests: [await ciphertextDigest(first)] }],
      dek,
      envId,
      'B',
    )
    const { server, client, last } = await world(pageOf([first, second], ['A', null], record))
    server.on('secrets.restore', ({ body }) => {
      const { ciphertext } = body as { ciphertext?: string }
      return ciphertext === undefined
        ? { status: 400, text: JSON.stringify({ error: { code: 'invalid_request', message: 'encrypted under A' } }) }
        : { json: { secret: secretOf('B', 3, ciphertext), restoredFrom: 1 } }
    })
    const place = { orgId, envId, name: 'B' }
    await expect(restoreSecret(client, place, 1)).rejects.toMatchObject({ code: 'invalid_request' })
    await restoreSecret(client, place, 1, { openKey: async () => dek })
    const { ciphertext = '', ...rest } = last()
    expect(rest).toEqual({ version: 1, expectedVersion: 2 })
    expect(await openSecret(ciphertext, dek, envId, 'B')).toBe('one')
    // Version 2 has the present name, so the refusal has another cause.
    await expect(restoreSecret(client, place, 2, { openKey: async () => dek })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('is not restored if the record does not prove it', async () => {
    const [first, second, third] = [
      await sealUnder('A', 'one'),
      await sealUnder('B', 'two'),
      await sealUnder('B', 'three'),
    ]
    const record = await sealFormerNames(
      [{ name: 'A', since: 1, digests: [await ciphertextDigest(first)] }],
      dek,
      envId,
      'B',
    )
    for (const shown of [record, null]) {
      const { server, client } = await world(pageOf([second, second, third], ['A', null, null], shown))
      const refusal = { error: { code: 'invalid_request', message: 'encrypted under A' } }
      server.on('secrets.restore', () => ({ status: 400, text: JSON.stringify(refusal) }))
      const restored = restoreSecret(client, { orgId, envId, name: 'B' }, 1, { openKey: async () => dek })
      await expect(restored).rejects.toMatchObject({ code: 'decryption_failed' })
      expect(server.requests.filter(({ line }) => line.startsWith('POST'))).toHaveLength(1)
    }
  })
})
