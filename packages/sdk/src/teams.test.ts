import { newId } from '@skerry/crypto/random'
import { newDek } from '@skerry/crypto/secret'
import { newToken, parseToken } from '@skerry/crypto/token'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { expect, test } from 'vitest'
import { startServer } from '../test/server.ts'
import { fast, ids, refuse } from '../test/world.ts'
import { memoryCache } from './cache.ts'
import { createClient } from './client.ts'
import { listFirstMissing } from './granting.ts'
import { createKnownState } from './known-state.ts'
import { grantMissing, listMissingGrants, type MissingGrant } from './teams.ts'

const { orgId } = ids
const me = await newToken('skerry')
const { privateKey: holder } = await parseToken(me.token)
const bob = await newToken('skerry')
const eve = await newToken('skerry')

const missingOf = (environmentId: string, more: Partial<MissingGrant> = {}): MissingGrant => ({
  environmentId,
  label: `shop/${environmentId.slice(-4)}`,
  principalType: 'user',
  principalId: `usr_${'0'.repeat(22)}`,
  name: 'Bob',
  email: 'bob@example.com',
  publicKeyJwk: bob.publicKeyJwk,
  teamIds: [],
  planned: true,
  held: true,
  heldUntil: null,
  ...more,
})

/** A server that stores the keys of environments, and lists what is missing in pages. */
async function world(missing: MissingGrant[]) {
  const keys = new Map(missing.map(({ environmentId }) => [environmentId, newDek()]))
  const given: {
    environmentId: string
    principalId: string
    publicKeyJwk: string
    wrappedDek: string
    ownWrappedDek: string
    direct?: boolean
  }[] = []
  const batches: number[] = []
  const owned = new Map<string, string>()
  const state = { isLying: false, interrupted: false }
  const server = await startServer(`Bearer ${me.bearer}`)
  server.on('grants.missing', ({ query }) => {
    const from = Number(query.cursor ?? 0)
    const next = from + 60 < missing.length ? String(from + 60) : null
    return { json: { missing: missing.slice(from, from + 60), nextCursor: next } }
  })
  server.on('grants.own', async ({ params }) => {
    const key = keys.get(params.envId as string)
    if (!key) return refuse(403, 'forbidden')
    const wrappedDek = owned.get(params.envId as string) ?? (await wrapKey(key, me.publicKeyJwk))
    owned.set(params.envId as string, wrappedDek)
    return { json: { wrappedDek } }
  })
  const peopleKeys = new Map(missing.map(({ principalId, publicKeyJwk }) => [principalId, publicKeyJwk]))
  /** The reasons of the real server, in its order. */
  const conflictOf = (row: (typeof given)[number]) => {
    if (!keys.has(row.environmentId)) return 'no_environment'
    if (row.ownWrappedDek !== owned.get(row.environmentId)) return 'key_replaced'
    if (!peopleKeys.has(row.principalId)) return 'no_principal'
    if (row.publicKeyJwk !== peopleKeys.get(row.principalId)) return 'public_key_changed'
    const isAsked = missing.some(
      (one) => one.environmentId === row.environmentId && one.principalId === row.principalId,
    )
    return row.direct === false && !isAsked ? 'not_planned' : null
  }
  server.on('grants.createMany', ({ body }) => {
    if (state.interrupted) return refuse(503, 'unavailable')
    const rows = (body as { grants: typeof given }).grants
    batches.push(rows.length)
    const pairs = rows.map(({ environmentId, principalId }) => `${environmentId} ${principalId}`)
    if (new Set(pairs).size < pairs.length) return refuse(400, 'invalid_request')
    const results = rows.map((row) => {
      const { environmentId, principalId } = row
      const isHeld = given.some((one) => one.environmentId === environmentId && one.principalId === principalId)
      const reason = isHeld ? null : conflictOf(row)
      const result = isHeld ? 'already' : reason === null ? 'done' : 'conflict'
      const grantId = result === 'conflict' ? null : newId('keyGrant')
      if (result === 'done') given.push(row)
      return { environmentId, principalType: 'user', principalId, result, reason, grantId }
    })
    return { json: { results: state.isLying ? results.toReversed() : results } }
  })
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: me.bearer }, ...fast })
  return { client, keys, given, batches, state }
}

const environments = (count: number) => Array.from({ length: count }, () => missingOf(newId('environment')))
const anyone = { orgId, holder, isCompared: () => true }

test('missing keys are listed in pages, granted in batches of at most 100, and open for the person alone', async () => {
  const { client, keys, given, batches } = await world(environments(130))
  const missing = await listMissingGrants(client, orgId)
  const progress: [number, number][] = []
  const rows = await grantMissing(client, missing, { ...anyone, onProgress: (...numbers) => progress.push(numbers) })
  expect([missing.length, rows.length, batches]).toEqual([130, 130, [100, 30]])
  expect(progress).toEqual([
    [100, 130],
    [130, 130],
  ])
  const { privateKey } = await parseToken(bob.token)
  const { environmentId, wrappedDek } = given[0] as (typeof given)[number]
  expect(await unwrapKey(wrappedDek, privateKey)).toEqual(keys.get(environmentId))
})

test('a public key that nobody compared gets nothing, whatever the server says about it', async () => {
  const [one, two, three, four] = environments(4) as [MissingGrant, MissingGrant, MissingGrant, MissingGrant]
  const missing = [
    one,
    { ...two, publicKeyJwk: eve.publicKeyJwk },
    { ...three, publicKeyJwk: null },
    { ...four, held: false },
  ]
  const { client, given } = await world(missing)
  const isCompared = ({ publicKeyJwk }: { publicKeyJwk: string }) => publicKeyJwk === bob.publicKeyJwk
  const rows = await grantMissing(client, missing, { ...anyone, isCompared })
  const outcomes = new Map(rows.map(({ missing: { environmentId }, outcome }) => [environmentId, outcome]))
  expect(missing.map(({ environmentId }) => outcomes.get(environmentId))).toEqual([
    'done',
    'uncompared',
    'without_keyring',
    'not_held',
  ])
  expect(given.map(({ environmentId }) => environmentId)).toEqual([one.environmentId])
})

test('a label that named another environment before stops everything before a key is wrapped', async () => {
  const [one, two] = environments(2) as [MissingGrant, MissingGrant]
  const { client, given } = await world([one, two])
  const memory = { store: memoryCache(), baseUrl: 'https://skerry.example', principalId: me.tokenId, strict: true }
  const remembering = { ...holder, knownState: createKnownState(memory) }
  await grantMissing(client, [one], { ...anyone, holder: remembering })
  const lie = { ...two, label: one.label }
  await expect(grantMissing(client, [lie], { ...anyone, holder: remembering })).rejects.toThrow(one.label)
  expect(given).toHaveLength(1)
})

test('an interrupted call is continued by another one, and answers about other rows are not believed', async () => {
  const { client, state } = await world(environments(3))
  const missing = await listMissingGrants(client, orgId)
  state.interrupted = true
  await expect(grantMissing(client, missing, anyone)).rejects.toMatchObject({ code: 'unavailable' })
  state.interrupted = false
  await grantMissing(client, missing.slice(0, 1), anyone)
  const rows = await grantMissing(client, missing, anyone)
  expect(rows.map(({ outcome }) => outcome)).toEqual(['already', 'done', 'done'])
  state.isLying = true
  await expect(grantMissing(client, missing, anyone)).rejects.toMatchObject({ code: 'malformed_answer' })
})

test('the first missing keys are listed without the others, and whether there are more', async () => {
  const { client } = await world(environments(130))
  expect(await listFirstMissing(client, orgId)).toMatchObject({ missing: { length: 60 }, hasMore: true })
  const few = await world(environments(3))
  expect(await listFirstMissing(few.client, orgId)).toMatchObject({ missing: { length: 3 }, hasMore: false })
})

test('a missing key of another team or person than asked for is not believed', async () => {
  const [asked, other] = [newId('team'), newId('team')]
  const [one] = environments(1) as [MissingGrant]
  const { client } = await world([{ ...one, teamIds: [asked] }])
  const userId = one.principalId
  expect(await listMissingGrants(client, orgId, { teamId: asked, userId })).toHaveLength(1)
  const malformed = { code: 'malformed_answer' }
  await expect(listMissingGrants(client, orgId, { teamId: other })).rejects.toMatchObject(malformed)
  await expect(listMissingGrants(client, orgId, { userId: `usr_${'1'.repeat(22)}` })).rejects.toMatchObject(malformed)
})
