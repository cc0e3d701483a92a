import { newToken } from '@skerry/crypto/token'
import { describe, expect, test } from 'vitest'
import { branchBody, ids, openSkerry, refuse, resolveBody, resolveWorld } from '../test/world.ts'
import type { Cache } from './cache.ts'
import { createSkerry, type SkerrySettings } from './skerry.ts'

type Settings = Partial<SkerrySettings>

/** A cache whose entries the test can read and change. */
function mapCache() {
  const kept = new Map<string, string>()
  const cache: Cache = {
    read: async (key) => kept.get(key),
    write: async (key, text) => void kept.set(key, text),
    delete: async (key) => void kept.delete(key),
  }
  return { kept, cache }
}

/** A world with a last-known-good copy. The test moves the clock. */
async function keptWorld(settings: Settings = {}) {
  const world = await resolveWorld()
  const { kept, cache } = mapCache()
  const clock = { ms: 1_000_000_000_000 }
  const restart = (more: Settings = {}) => openSkerry(world, { cache, now: () => clock.ms, ...settings, ...more })
  await restart().resolve()
  return { world, kept, cache, clock, restart }
}

const page = (status: number) => ({ status, text: '<html>no backend</html>' })

const unavailable = [
  ['a 500', () => refuse(500, 'internal')],
  ['a 503', () => refuse(503, 'internal')],
  ['a 429 on every attempt', () => ({ ...refuse(429, 'rate_limited'), headers: { 'retry-after': '0' } })],
  ['a 401 of a proxy', () => page(401)],
  ['a 403 of a proxy', () => page(403)],
  ['a 404 of a proxy', () => page(404)],
  ['a 404 with JSON of another API', () => ({ status: 404, text: '{"error":{"message":"no healthy upstream"}}' })],
  ['a redirect', () => ({ status: 302, headers: { location: '/elsewhere' } })],
] as const

describe('a last-known-good copy', () => {
  test.each(unavailable)('is used after %s, and marked as stale', async (_, answer) => {
    const { world, kept, clock, restart } = await keptWorld()
    clock.ms += 60_000
    world.answer = answer
    const resolved = await restart().resolve()
    expect(resolved).toMatchObject({ stale: true, ageSeconds: 60, fetchedAt: '2001-09-09T01:46:40.000Z' })
    expect(resolved.values.URL).toBe('postgres://db')
    expect(kept.size).toBe(1)
  })

  test('is used when the server is down, or answers too late', async () => {
    const { world, restart } = await keptWorld()
    world.answer = () => undefined
    expect(await restart({ timeoutMs: 50 }).resolve()).toMatchObject({ stale: true })
    await world.server.close()
    expect(await restart().resolve()).toMatchObject({ stale: true })
  })

  test.each([
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
  ])('is deleted by a refusal with status %i', async (status, code) => {
    const { world, kept, restart } = await keptWorld()
    const [key] = [...kept.keys()] as [string]
    world.answer = () => refuse(status, code)
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'RefusedError', code })
    expect(kept.has(key)).toBe(false)
    await world.server.close()
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('is void, whatever its query, once the server has rejected the token as unknown', async () => {
    const { world, clock, restart } = await keptWorld()
    const other = { with: ['shared:production'] }
    await restart(other).resolve()
    world.answer = () => refuse(404, 'not_found')
    await expect(restart().resolve()).rejects.toMatchObject({ code: 'not_found' })
    expect(await restart({ ...other, offline: true }).resolve()).toMatchObject({ stale: true })
    world.answer = () => refuse(401, 'unauthorized')
    await expect(restart().resolve()).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(restart({ ...other, offline: true }).resolve()).rejects.toMatchObject({ code: 'offline' })
    world.answer = undefined
    clock.ms += 1
    await restart(other).resolve()
    expect(await restart({ ...other, offline: true }).resolve()).toMatchObject({ stale: true })
  })

  test('is used only while it is strictly younger than the limit', async () => {
    const { world, clock, restart } = await keptWorld({ maxAgeSeconds: 60 })
    world.answer = () => refuse(500, 'internal')
    clock.ms += 59_999
    expect(await restart().resolve()).toMatchObject({ stale: true })
    clock.ms += 1
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('is usable for 24 hours by default', async () => {
    const { world, clock, restart } = await keptWorld()
    world.answer = () => refuse(500, 'internal')
    clock.ms += 86_400_000 - 1
    expect(await restart().resolve()).toMatchObject({ stale: true })
    clock.ms += 1
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('from the future is not used', async () => {
    const { world, clock, restart } = await keptWorld()
    world.answer = () => refuse(500, 'internal')
    clock.ms -= 1
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('is neither used for nor replaced by an answer that is malformed or does not decrypt', async () => {
    const { world, kept, restart } = await keptWorld()
    const before = [...kept.values()]
    const stranger = await resolveBody((await newToken('skerry')).publicKeyJwk)
    const moved = structuredClone(world.body)
    moved.layers[1]!.secrets[0]!.name = 'MOVED'
    world.etag = '"two"'
    for (const body of [stranger, moved]) {
      world.body = body
      await expect(restart().resolve()).rejects.toMatchObject({ code: 'decryption_failed' })
    }
    world.answer = () => ({ text: JSON.stringify(world.body).slice(0, -1) })
    await expect(restart().resolve()).rejects.toMatchObject({ code: 'malformed_answer' })
    expect([...kept.values()]).toEqual(before)
  })

  test('is renewed by a 304', async () => {
    const { world, clock, restart } = await keptWorld({ maxAgeSeconds: 60 })
    clock.ms += 50_000
    expect(await restart().resolve()).toMatchObject({ stale: false, ageSeconds: 0 })
    expect(world.server.requests.at(-1)!.headers['if-none-match']).toBe('"one"')
    clock.ms += 50_000
    world.answer = () => refuse(500, 'internal')
    expect(await restart().resolve()).toMatchObject({ stale: true, ageSeconds: 50 })
  })

  test('that is too old adds no ETag to the request', async () => {
    const { world, clock, restart } = await keptWorld({ maxAgeSeconds: 60 })
    clock.ms += 60_000
    await restart().resolve()
    expect(world.server.requests.at(-1)!.headers['if-none-match']).toBeUndefined()
  })

  test('is encrypted: it shows nothing of the answer, and no other token decrypts it', async () => {
    const { world, kept, cache } = await keptWorld()
    const [[key, text]] = [...kept] as [[string, string]]
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(text).not.toMatch(/sc1\.|wd1\.|"layers|"etag|production/)
    const other = await newToken('skerry')
    const wrong = createSkerry({ baseUrl: world.server.baseUrl, token: other.token, cache, offline: true })
    await expect(wrong.resolve()).rejects.toMatchObject({ code: 'offline' })
    kept.clear()
    const anyKey: Cache = { ...cache, read: async () => text }
    const moved = createSkerry({ baseUrl: world.server.baseUrl, token: other.token, cache: anyKey, offline: true })
    await expect(moved.resolve()).rejects.toMatchObject({ code: 'offline' })
  })

  test('does not decrypt under another cache key, and is then deleted', async () => {
    const { kept, restart, world } = await keptWorld()
    await restart({ with: ['shared:production'] }).resolve()
    const [[one, first], [two]] = [...kept] as [[string, string], [string, string]]
    kept.set(two, first)
    await world.server.close()
    await expect(restart({ with: ['shared:production'] }).resolve()).rejects.toMatchObject({ code: 'unavailable' })
    expect([...kept.keys()]).toEqual([one])
  })

  test.each([
    ['no JSON', () => '{'],
    ['an empty object', () => '{}'],
    [
      'a flipped bit',
      (text: string) => text.replace(/"ciphertext":"(.)/, (_, c) => `"ciphertext":"${c === 'A' ? 'B' : 'A'}`),
    ],
    ['a missing end', (text: string) => `${text.slice(0, -10)}"}`],
  ])('with %s counts as missing and is deleted', async (_, damage) => {
    const { kept, restart } = await keptWorld()
    const [[key, text]] = [...kept] as [[string, string]]
    kept.set(key, damage(text))
    await expect(restart({ offline: true }).resolve()).rejects.toMatchObject({ code: 'offline' })
    expect(kept.size).toBe(0)
  })

  test('is the only source when offline, and no request is sent', async () => {
    const { world, restart } = await keptWorld()
    expect(await restart({ offline: true }).resolve()).toMatchObject({ stale: true })
    expect(world.server.requests).toHaveLength(1)
  })

  test('has its own cache key for each server, token, environment, branch and set of groups', async () => {
    const world = await resolveWorld()
    world.body = await branchBody(world.reader.publicKeyJwk)
    const { kept, cache } = mapCache()
    for (const settings of [{}, { branch: 'pr-7' }, { branch: ids.branchId }, { with: ['shared:production'] }]) {
      await openSkerry(world, { cache, ...settings }).resolve()
    }
    await openSkerry(world, { cache, env: ids.branchId }).resolve()
    await openSkerry(world, { cache, baseUrl: world.server.baseUrl.replace('127.0.0.1', 'localhost') }).resolve()
    expect(kept.size).toBe(6)
    await openSkerry(world, { cache, baseUrl: `${world.server.baseUrl}/` }).resolve()
    expect(kept.size).toBe(6)
  })

  test('that cannot be read or written stops no resolve, and the program is warned', async () => {
    const world = await resolveWorld()
    const broken = async () => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    }
    const warnings: string[] = []
    const cache: Cache = { read: broken, write: broken, delete: broken }
    const skerry = openSkerry(world, { cache, warn: (message) => void warnings.push(message) })
    expect(await skerry.get('HOST')).toBe('db')
    expect(warnings).toEqual(['cache: read failed: ENOSPC', 'cache: write failed: ENOSPC'])
  })

  test.each([
    ['the message of an error without a code', new Error('planted-secret')],
    ['a code that is not an error code', Object.assign(new Error('no space'), { code: 'planted-secret\u001b[2J' })],
    ['a number as its code', Object.assign(new Error('planted-secret'), { code: 28 })],
    ['a thrown text', 'planted-secret'],
    ['nothing that was thrown', undefined],
  ])('that fails is not quoted in the warnings: %s', async (_, error) => {
    const world = await resolveWorld()
    const broken = async () => {
      throw error
    }
    const warnings: string[] = []
    const cache: Cache = { read: broken, write: broken, delete: broken }
    const skerry = openSkerry(world, { cache, warn: (message) => void warnings.push(message) })
    expect(await skerry.get('HOST')).toBe('db')
    expect(warnings).toEqual(['cache: read failed', 'cache: write failed'])
  })
})

describe('a last-known-good copy that expires during the attempts', () => {
  test('is not used', async () => {
    const { world, clock, restart } = await keptWorld({ maxAgeSeconds: 60 })
    clock.ms += 59_000
    world.answer = () => {
      clock.ms += 1000
      return refuse(500, 'internal')
    }
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })
})
