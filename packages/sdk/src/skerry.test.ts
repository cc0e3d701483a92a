import { newToken } from '@skerry/crypto/token'
import { describe, expect, test } from 'vitest'
import { app, branchBody, fast, ids, layer, refuse, resolveBody, resolveWorld, scope, shared } from '../test/world.ts'
import type { Cache } from './cache.ts'
import { memoryCache } from './cache.ts'
import { createSkerry, type SkerrySettings } from './skerry.ts'

type Settings = Partial<SkerrySettings>
type World = Awaited<ReturnType<typeof resolveWorld>>

const open = ({ server, reader }: World, settings: Settings = {}) =>
  createSkerry({ baseUrl: server.baseUrl, token: reader.token, ...fast, ...settings } as SkerrySettings)

/** A cache to look into. */
function mapCache() {
  const kept = new Map<string, string>()
  const cache: Cache = {
    read: async (key) => kept.get(key),
    write: async (key, text) => void kept.set(key, text),
    delete: async (key) => void kept.delete(key),
  }
  return { kept, cache }
}

/** A world with a last-known-good copy, made at the time 0 of a clock to be moved. */
async function keptWorld(settings: Settings = {}) {
  const world = await resolveWorld()
  const { kept, cache } = mapCache()
  const clock = { ms: 1_000_000_000_000 }
  const restart = (more: Settings = {}) => open(world, { cache, now: () => clock.ms, ...settings, ...more })
  await restart().resolve()
  return { world, kept, cache, clock, restart }
}

const unavailable = [
  ['a 500', () => refuse(500, 'internal')],
  ['a 503', () => refuse(503, 'internal')],
  ['a 429 to the last', () => ({ ...refuse(429, 'rate_limited'), headers: { 'retry-after': '0' } })],
] as const

describe('a resolve', () => {
  test('gives merged and expanded values, where they come from, and what is missing', async () => {
    const world = await resolveWorld()
    const { publicKeyJwk } = world.reader
    world.body.layers[1] = await layer(app, { URL: `\${HOST}/\${NOPE}`, LEVEL: 'debug' }, publicKeyJwk)
    const resolved = await open(world).resolve()
    expect({ ...resolved.values }).toEqual({ HOST: 'db', LEVEL: 'debug', URL: `db/\${NOPE}` })
    expect(resolved.provenance.LEVEL).toEqual({ ...app, overrides: [shared] })
    expect(resolved).toMatchObject({ unresolved: ['NOPE'], scope, stale: false })
    expect(Date.parse(resolved.fetchedAt)).toBeGreaterThan(Date.now() - 10_000)
  })

  test('presents the bearer that is derived from the token, never the token', async () => {
    const world = await resolveWorld()
    await open(world).resolve()
    const { headers, line } = world.server.requests[0]!
    expect(headers.authorization).toBe(`Bearer ${world.reader.bearer}`)
    expect(JSON.stringify([headers, line])).not.toContain(world.reader.token)
  })

  test('works with a token of the published clients, and with a bearer and a private key', async () => {
    const world = await resolveWorld(await newToken('classic'))
    expect(await open(world).get('HOST')).toBe('db')
    const { bearer, privateKey } = world.reader
    const skerry = createSkerry({ baseUrl: world.server.baseUrl, bearer, privateKey })
    expect(await skerry.get('HOST')).toBe('db')
  })

  test('sends environment, branch and sorted groups', async () => {
    const world = await resolveWorld()
    world.body = await branchBody(world.reader.publicKeyJwk)
    const settings = { env: ids.envId, branch: 'pr-7', with: { shared: 'production', another: 'eu' } }
    await open(world, settings).resolve()
    const { line } = world.server.requests[0]!
    expect(line).toBe(`GET /v1/resolve?env=${ids.envId}&branch=pr-7&with=another%3Aeu&with=shared%3Aproduction`)
  })

  test('leaves references as stored when that is asked', async () => {
    const world = await resolveWorld()
    const { values, unresolved } = await open(world, { interpolate: false }).resolve()
    expect([values.URL, unresolved]).toEqual([`postgres://\${HOST}`, []])
  })

  test('hands out only the names that are asked for, with references to any', async () => {
    const world = await resolveWorld()
    const { values, provenance } = await open(world, { only: ['URL'] }).resolve()
    expect({ ...values }).toEqual({ URL: 'postgres://db' })
    expect(Object.keys(provenance)).toEqual(['URL'])
    await expect(open(world, { only: ['URL', 'NOPE'] }).resolve()).rejects.toMatchObject({ code: 'not_found' })
    await expect(open(world, { only: ['toString'] }).resolve()).rejects.toMatchObject({ code: 'not_found' })
  })

  test('refuses references that go round in circles', async () => {
    const world = await resolveWorld()
    world.body.layers[1] = await layer(app, { A: `\${B}`, B: `\${A}` }, world.reader.publicKeyJwk)
    await expect(open(world).resolve()).rejects.toMatchObject({ code: 'reference_cycle' })
  })

  test('asks the server every time', async () => {
    const world = await resolveWorld()
    const skerry = open(world)
    await skerry.resolve()
    world.body.layers[1] = await layer(app, { LEVEL: 'warn' }, world.reader.publicKeyJwk)
    world.etag = '"two"'
    expect(await skerry.get('LEVEL')).toBe('warn')
    await expect(skerry.get('URL')).rejects.toMatchObject({ name: 'SkerryError', code: 'not_found' })
  })

  test('of a token that is none fails before anything is sent, in words that do not repeat it', async () => {
    const world = await resolveWorld()
    const error = await open(world, { token: 'skt_secret' } as Settings)
      .resolve()
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'malformed_token' })
    expect(String(error)).not.toContain('skt_secret')
    expect(world.server.requests).toEqual([])
  })

  test('of an unchanged answer costs a 304 and has the same revision', async () => {
    const world = await resolveWorld()
    const skerry = open(world)
    const first = await skerry.resolve()
    const second = await skerry.resolve()
    expect(world.server.requests[1]!.headers['if-none-match']).toBe('"one"')
    expect(second.revision).toBe(first.revision)
    expect(second.values).toEqual(first.values)
  })
})

describe('a last-known-good copy', () => {
  test.each(unavailable)('stands in after %s, and says so', async (_, answer) => {
    const { world, clock, restart } = await keptWorld()
    clock.ms += 60_000
    world.answer = answer
    const resolved = await restart().resolve()
    expect(resolved).toMatchObject({ stale: true, ageSeconds: 60, fetchedAt: '2001-09-09T01:46:40.000Z' })
    expect(resolved.values.URL).toBe('postgres://db')
  })

  test('stands in when the server is gone, or answers too late', async () => {
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
    [302, 'redirect_refused'],
  ])('is deleted by a refusal of status %i', async (status, code) => {
    const { world, kept, restart } = await keptWorld()
    expect(kept.size).toBe(1)
    world.answer = () => refuse(status, code)
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'RefusedError', code })
    expect(kept.size).toBe(0)
    await world.server.close()
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('is taken only while it is strictly younger than the limit', async () => {
    const { world, clock, restart } = await keptWorld({ maxAgeSeconds: 60 })
    world.answer = () => refuse(500, 'internal')
    clock.ms += 59_999
    expect(await restart().resolve()).toMatchObject({ stale: true })
    clock.ms += 1
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('is good for 24 hours unless said', async () => {
    const { world, clock, restart } = await keptWorld()
    world.answer = () => refuse(500, 'internal')
    clock.ms += 86_400_000 - 1
    expect(await restart().resolve()).toMatchObject({ stale: true })
    clock.ms += 1
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('from the future is not taken', async () => {
    const { world, clock, restart } = await keptWorld()
    world.answer = () => refuse(500, 'internal')
    clock.ms -= 1
    await expect(restart().resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('never stands in for an answer that does not decrypt or is malformed, nor is it replaced by one', async () => {
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

  test('that is too old asks for everything again', async () => {
    const { world, clock, restart } = await keptWorld({ maxAgeSeconds: 60 })
    clock.ms += 60_000
    await restart().resolve()
    expect(world.server.requests.at(-1)!.headers['if-none-match']).toBeUndefined()
  })

  test('is ciphertext in ciphertext: nothing of the answer shows, and no other token opens it', async () => {
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

  test('does not open in another place, and what does not open is deleted', async () => {
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
  ])('that is %s counts as absent and is deleted', async (_, damage) => {
    const { kept, restart } = await keptWorld()
    const [[key, text]] = [...kept] as [[string, string]]
    kept.set(key, damage(text))
    await expect(restart({ offline: true }).resolve()).rejects.toMatchObject({ code: 'offline' })
    expect(kept.size).toBe(0)
  })

  test('is the only answer when offline, and the server hears nothing', async () => {
    const { world, restart } = await keptWorld()
    expect(await restart({ offline: true }).resolve()).toMatchObject({ stale: true })
    expect(world.server.requests).toHaveLength(1)
  })

  test('has a place of its own for each server, token, environment, branch and groups', async () => {
    const world = await resolveWorld()
    world.body = await branchBody(world.reader.publicKeyJwk)
    const { kept, cache } = mapCache()
    for (const settings of [{}, { branch: 'pr-7' }, { branch: ids.branchId }, { with: ['shared:production'] }]) {
      await open(world, { cache, ...settings }).resolve()
    }
    await open(world, { cache, env: ids.branchId }).resolve()
    await open(world, { cache, baseUrl: world.server.baseUrl.replace('127.0.0.1', 'localhost') }).resolve()
    expect(kept.size).toBe(6)
    await open(world, { cache, baseUrl: `${world.server.baseUrl}/` }).resolve()
    expect(kept.size).toBe(6)
  })

  test('that cannot be read or written stops no resolve, and somebody is told', async () => {
    const world = await resolveWorld()
    const broken = async () => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    }
    const warnings: string[] = []
    const cache: Cache = { read: broken, write: broken, delete: broken }
    const skerry = open(world, { cache, warn: (message) => void warnings.push(message) })
    expect(await skerry.get('HOST')).toBe('db')
    expect(warnings).toEqual(['cache: read failed: ENOSPC', 'cache: write failed: ENOSPC'])
  })
})

describe('reuse in memory', () => {
  test('answers without the server for its time, and no longer', async () => {
    const world = await resolveWorld()
    const clock = { ms: 0 }
    const now = () => clock.ms
    const skerry = open(world, { now, reuse: memoryCache({ now }) })
    await skerry.resolve()
    clock.ms = 59_999
    expect(await skerry.resolve()).toMatchObject({ stale: false, ageSeconds: 59.999 })
    expect(world.server.requests).toHaveLength(1)
    clock.ms = 60_000
    await skerry.resolve()
    expect(world.server.requests).toHaveLength(2)
  })

  test('stands in for nothing once its time is over', async () => {
    const world = await resolveWorld()
    const clock = { ms: 0 }
    const now = () => clock.ms
    const skerry = open(world, { now, reuse: memoryCache({ ttlSeconds: 1, now }) })
    await skerry.resolve()
    clock.ms = 1000
    world.answer = () => refuse(500, 'internal')
    await expect(skerry.resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('keeps no failure', async () => {
    const world = await resolveWorld()
    const skerry = open(world, { reuse: memoryCache() })
    world.answer = () => refuse(403, 'forbidden')
    await expect(skerry.resolve()).rejects.toMatchObject({ name: 'RefusedError' })
    world.answer = undefined
    expect(await skerry.get('HOST')).toBe('db')
  })
})
