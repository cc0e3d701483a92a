import { generateKeyPair } from '@skerry/crypto/keys'
import { openOverride, sealOverride } from '@skerry/crypto/override'
import { newId } from '@skerry/crypto/random'
import { describe, expect, test } from 'vitest'
import { type Reply, startServer } from '../test/server.ts'
import { ids, now, refuse, resolveBody } from '../test/world.ts'
import type { Cache } from './cache.ts'
import { createClient } from './client.ts'
import { createKnownState, type KnownStateSettings } from './known-state.ts'
import { listOverrides, listUnreadableOverrides, removeOverride, removeOverrideById, setOverride } from './overrides.ts'
import { createSkerry, type SkerrySettings } from './skerry.ts'

// Personal overrides: what a client stores, and what a reader of the environment makes of them.

const { orgId, envId } = ids
const userId = newId('user')
const bearer = 'skc_of-a-person'
const { privateKey, publicKeyJwk } = await generateKeyPair()
const place = { orgId, envId, userId }
const at = { orgId, environmentId: envId, userId }

interface Row {
  id: string
  wrappedKey: string
  ciphertext: string
  revision: number
  environmentId: string
  createdAt: string
  updatedAt: string
}

function mapCache() {
  const kept = new Map<string, string>()
  const cache: Cache = {
    read: async (key) => kept.get(key),
    write: async (key, text) => void kept.set(key, text),
    delete: async (key) => void kept.delete(key),
  }
  return cache
}

const rowOf = async (name: string, value: string, revision = 1): Promise<Row> => ({
  id: newId('override'),
  ...(await sealOverride({ name, value, revision }, privateKey, at)),
  revision,
  environmentId: envId,
  createdAt: now,
  updatedAt: now,
})

/** A server with one environment and the overrides in `world.rows`. */
async function openWorld(settings: Partial<SkerrySettings> = {}) {
  const server = await startServer(`Bearer ${bearer}`)
  const body = await resolveBody(publicKeyJwk)
  const world = {
    rows: [] as Row[],
    /** Replaces the honest answer. */
    answer: undefined as (() => Reply | undefined) | undefined,
    asked: [] as string[],
  }
  server.on('resolve.get', () => {
    world.asked.push('resolve')
    return { json: body }
  })
  server.on('overrides.list', () => {
    world.asked.push('overrides')
    return world.answer ? world.answer() : { json: { overrides: world.rows } }
  })
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer }, retry: { backoffMs: 1 } })
  const store = mapCache()
  const knownState = (more: Partial<KnownStateSettings> = {}) =>
    createKnownState({ store, baseUrl: server.baseUrl, principalId: userId, ...more })
  const reader = (more: Partial<SkerrySettings> = {}) =>
    createSkerry({
      baseUrl: server.baseUrl,
      bearer,
      privateKey,
      env: envId,
      overrides: { orgId, userId },
      retry: { backoffMs: 1 },
      ...settings,
      ...more,
    } as SkerrySettings)
  return { server, world, client, knownState, reader }
}

describe('a resolve with personal overrides', () => {
  test('prefers them, expands references with them, and names them', async () => {
    const { world, reader } = await openWorld()
    world.rows = [await rowOf('HOST', 'mine'), await rowOf('EXTRA', `\${URL}`)]
    const { values, overridden, provenance } = await reader().resolve()
    expect(values).toEqual({ HOST: 'mine', LEVEL: 'debug', URL: 'postgres://mine', EXTRA: 'postgres://mine' })
    expect(overridden).toEqual(['EXTRA', 'HOST'])
    expect(provenance.HOST).toMatchObject({ source: 'group' })
    expect(provenance.EXTRA).toMatchObject({ source: 'app', environmentId: envId })
  })

  test('asks nothing about them unless they are wanted, and refuses to with a token', async () => {
    const { world, reader } = await openWorld()
    expect((await reader({ overrides: undefined }).resolve()).overridden).toEqual([])
    expect(world.asked).toEqual(['resolve'])
    const asToken = { token: 'skt_x', bearer: undefined } as never
    expect(() => reader(asToken)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  test('has none on an older server, which is asked nothing else', async () => {
    const { server, world, reader } = await openWorld()
    world.answer = () => ({ status: 404, text: '{"error":{"code":"not_found","message":"no such path"}}' })
    expect((await reader().resolve()).overridden).toEqual([])
    expect(server.requests.filter(({ line }) => line.includes('openapi'))).toEqual([])
  })

  test('keeps them encrypted in the copy for when the server is away, and never mixes copies with and without them', async () => {
    const cache = mapCache()
    const { server, world, reader } = await openWorld({ cache })
    world.rows = [await rowOf('HOST', 'mine')]
    await reader().resolve()
    await reader({ overrides: undefined }).resolve()
    await server.close()
    expect((await reader().resolve()).values.HOST).toBe('mine')
    expect((await reader({ overrides: undefined }).resolve()).values.HOST).toBe('db')
  })

  test('uses the copy if the server gives no decision about them, and fails without a copy', async () => {
    const cache = mapCache()
    const { world, reader } = await openWorld()
    world.rows = [await rowOf('HOST', 'mine')]
    await reader({ cache }).resolve()
    world.answer = () => refuse(503, 'internal')
    expect(await reader({ cache }).resolve()).toMatchObject({ stale: true, values: { HOST: 'mine' } })
    await expect(reader().resolve()).rejects.toThrow(expect.objectContaining({ status: 503 }))
  })

  test('changes its revision when an override changes', async () => {
    const { world, reader } = await openWorld()
    const before = await reader().resolve()
    world.rows = [await rowOf('HOST', 'mine')]
    expect((await reader().resolve()).revision).not.toBe(before.revision)
  })

  test.each(['{}', '{"overrides":[{"id":1}]}', '{"overrides":[null]}'])('refuses the answer %s', async (text) => {
    const { world, reader } = await openWorld()
    world.answer = () => ({ text })
    await expect(reader().resolve()).rejects.toThrow(expect.objectContaining({ code: 'malformed_answer' }))
  })

  test('refuses an override of another environment', async () => {
    const { world, reader } = await openWorld()
    const sealed = await sealOverride({ name: 'HOST', value: 'x', revision: 1 }, privateKey, {
      ...at,
      environmentId: ids.branchId,
    })
    world.rows = [{ ...(await rowOf('HOST', 'mine')), ...sealed }]
    await expect(reader().resolve()).rejects.toThrow(expect.objectContaining({ code: 'decryption_failed' }))
  })

  test('reports one that vanished, also behind an older server, and refuses in strict mode', async () => {
    const { world, reader, knownState } = await openWorld()
    world.rows = [await rowOf('HOST', 'mine')]
    await reader({ knownState: knownState() }).resolve()
    world.answer = () => ({ status: 404, text: '{"error":{"code":"not_found","message":"no such path"}}' })
    await expect(reader({ knownState: knownState({ strict: true }) }).resolve()).rejects.toThrow(
      'your personal override of HOST is missing',
    )
    const told: string[] = []
    const onChanged = (changes: readonly { kind: string }[]) => told.push(...changes.map(({ kind }) => kind))
    for (let i = 0; i < 2; i++) await reader({ knownState: knownState({ onChanged }) }).resolve()
    expect(told).toEqual(['override_missing', 'override_missing'])
    const accepting = { strict: true, onRollback: () => {} }
    await reader({ knownState: knownState(accepting) }).resolve()
    await reader({ knownState: knownState({ onChanged }) }).resolve()
    expect(told).toHaveLength(2)
  })

  test('reports an earlier one each time until the revision is newer again, or somebody accepts it', async () => {
    const { world, reader, knownState } = await openWorld()
    const [old, newer] = [await rowOf('HOST', 'old', 1), await rowOf('HOST', 'mine', 2)]
    const told: string[] = []
    const onChanged = (changes: readonly { kind: string }[]) => told.push(...changes.map(({ kind }) => kind))
    for (const rows of [[newer], [old], [old], [newer]]) {
      world.rows = rows
      await reader({ knownState: knownState({ onChanged }) }).resolve()
    }
    expect(told).toEqual(['override_went_back', 'override_went_back'])
  })
})

test('a resolve sends the tag of the overrides that it has, and uses them again after a 304', async () => {
  const tags: (string | undefined)[] = []
  const { server, world, reader } = await openWorld()
  world.rows = [await rowOf('HOST', 'mine')]
  server.on('overrides.list', ({ headers }) => {
    const tag = headers['if-none-match']
    tags.push(tag)
    return tag === '"1"' ? { status: 304 } : { json: { overrides: world.rows }, headers: { etag: '"1"' } }
  })
  const watching = reader()
  for (let i = 0; i < 2; i++) expect((await watching.resolve()).values.HOST).toBe('mine')
  expect(tags).toEqual([undefined, '"1"'])
})

describe('an override that does not open', () => {
  test('keeps no other one from being listed, stored or removed, and is removed by its id', async () => {
    const { server, world, client } = await openWorld()
    const { privateKey: former } = await generateKeyPair()
    const sealed = await sealOverride({ name: 'PORT', value: '1', revision: 1 }, former, at)
    const broken = { ...(await rowOf('PORT', 'x')), ...sealed }
    world.rows = [broken, await rowOf('HOST', 'mine')]
    server.on('overrides.delete', ({ params }) => {
      world.rows = world.rows.filter(({ id }) => id !== params.overrideId)
      return { json: { ok: true } }
    })
    server.on('overrides.create', ({ body }) => {
      const { seen, ...stored } = body as Row & { seen: string[] }
      expect(seen).toContain(broken.id)
      const row = { ...broken, ...stored, id: newId('override') }
      world.rows.push(row)
      return { status: 201, json: { override: row } }
    })
    expect((await listOverrides(client, place, privateKey)).map(({ name }) => name)).toEqual(['HOST'])
    await setOverride(client, place, { name: 'PORT', value: '2' }, privateKey)
    expect(await removeOverride(client, place, 'HOST', privateKey)).toBe(true)
    const unreadable = await listUnreadableOverrides(client, place, privateKey)
    expect(unreadable).toEqual([{ id: broken.id, updatedAt: now }])
    await removeOverrideById(client, place, broken.id)
    expect(await listUnreadableOverrides(client, place, privateKey)).toEqual([])
    expect((await listOverrides(client, place, privateKey)).map(({ value }) => value)).toEqual(['2'])
  })
})

describe('storing an override', () => {
  test('names the overrides that the client saw, and counts revisions up', async () => {
    const { server, world, client, knownState } = await openWorld()
    const other = await rowOf('OTHER', 'x', 4)
    world.rows = [other]
    server.on('overrides.create', ({ body }) => {
      const { seen, ...sealed } = body as { seen: string[]; wrappedKey: string; ciphertext: string }
      expect(seen).toEqual([other.id])
      const row = { ...other, ...sealed, id: newId('override'), revision: 1 }
      world.rows = [other, row]
      return { status: 201, json: { override: row } }
    })
    server.on('overrides.replace', ({ body }) => {
      const { expectedRevision, ...sealed } = body as {
        expectedRevision: number
        wrappedKey: string
        ciphertext: string
      }
      expect(expectedRevision).toBe(4)
      return { json: { override: { ...other, ...sealed, revision: 5 } } }
    })
    const holder = { ...privateKey, knownState: knownState({ strict: true }) }
    await setOverride(client, place, { name: 'PORT', value: '1' }, holder)
    expect(await listOverrides(client, place, holder)).toMatchObject([
      { name: 'OTHER', revision: 4 },
      { name: 'PORT', value: '1', revision: 1 },
    ])
    expect(await setOverride(client, place, { name: 'OTHER', value: 'y' }, holder)).toMatchObject({ revision: 5 })
  })

  test('again after it was removed is not reported, because this client did both', async () => {
    const { server, world, client, knownState } = await openWorld()
    world.rows = [await rowOf('PORT', '1', 3)]
    server.on('overrides.delete', () => {
      world.rows = []
      return { json: { ok: true } }
    })
    server.on('overrides.create', ({ body }) => {
      const { seen: _, ...sealed } = body as Row & { seen: string[] }
      world.rows = [
        { ...sealed, id: newId('override'), revision: 1, environmentId: envId, createdAt: now, updatedAt: now },
      ]
      return { status: 201, json: { override: world.rows[0]! } }
    })
    const holder = { ...privateKey, knownState: knownState({ strict: true }) }
    expect(await removeOverride(client, place, 'PORT', holder)).toBe(true)
    expect(await removeOverride(client, place, 'PORT', holder)).toBe(false)
    await setOverride(client, place, { name: 'PORT', value: '2' }, holder)
    expect(await openOverride(world.rows[0]!, privateKey, at)).toEqual({ name: 'PORT', value: '2', revision: 1 })
    expect(await listOverrides(client, place, holder)).toHaveLength(1)
  })
})
