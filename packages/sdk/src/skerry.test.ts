import { newToken } from '@skerry/crypto/token'
import { describe, expect, test } from 'vitest'
import { app, branchBody, ids, layer, openSkerry, refuse, resolveWorld, scope, shared } from '../test/world.ts'
import { memoryCache } from './cache.ts'
import { createSkerry, type SkerrySettings } from './skerry.ts'

describe('a resolve', () => {
  test('returns merged and expanded values, their origin, and missing names', async () => {
    const world = await resolveWorld()
    const { publicKeyJwk } = world.reader
    world.body.layers[1] = await layer(app, { URL: `\${HOST}/\${NOPE}`, LEVEL: 'debug' }, publicKeyJwk)
    const before = Date.now()
    const resolved = await openSkerry(world).resolve()
    expect({ ...resolved.values }).toEqual({ HOST: 'db', LEVEL: 'debug', URL: `db/\${NOPE}` })
    expect(resolved.provenance.LEVEL).toEqual({ ...app, overrides: [shared] })
    expect(resolved).toMatchObject({ unresolved: ['NOPE'], scope, stale: false })
    expect(Date.parse(resolved.fetchedAt)).toBeGreaterThanOrEqual(before)
  })

  test('sends the bearer that is derived from the token, never the token', async () => {
    const world = await resolveWorld()
    await openSkerry(world).resolve()
    const { headers, line } = world.server.requests[0]!
    expect(headers.authorization).toBe(`Bearer ${world.reader.bearer}`)
    expect(JSON.stringify([headers, line])).not.toContain(world.reader.token)
  })

  test('works with a token of the published clients, and with a bearer and its private key', async () => {
    const world = await resolveWorld(await newToken('classic'))
    expect(await openSkerry(world).get('HOST')).toBe('db')
    const { bearer, privateKey } = world.reader
    const skerry = createSkerry({ baseUrl: world.server.baseUrl, bearer, privateKey })
    expect(await skerry.get('HOST')).toBe('db')
  })

  test('sends environment, branch and sorted groups', async () => {
    const world = await resolveWorld()
    world.body = await branchBody(world.reader.publicKeyJwk)
    const settings = { env: ids.envId, branch: 'pr-7', with: { shared: 'production', another: 'eu' } }
    await openSkerry(world, settings).resolve()
    const { line } = world.server.requests[0]!
    expect(line).toBe(`GET /v1/resolve?env=${ids.envId}&branch=pr-7&with=another%3Aeu&with=shared%3Aproduction`)
  })

  test('leaves references as stored if `interpolate` is false', async () => {
    const world = await resolveWorld()
    const { values, unresolved } = await openSkerry(world, { interpolate: false }).resolve()
    expect([values.URL, unresolved]).toEqual([`postgres://\${HOST}`, []])
  })

  test('returns only the requested names, which may refer to any name', async () => {
    const world = await resolveWorld()
    const { values, provenance } = await openSkerry(world, { only: ['URL'] }).resolve()
    expect({ ...values }).toEqual({ URL: 'postgres://db' })
    expect(Object.keys(provenance)).toEqual(['URL'])
    await expect(openSkerry(world, { only: ['URL', 'NOPE'] }).resolve()).rejects.toMatchObject({ code: 'not_found' })
    await expect(openSkerry(world, { only: ['toString'] }).resolve()).rejects.toMatchObject({ code: 'not_found' })
  })

  test('refuses circular references, but only those of requested names', async () => {
    const world = await resolveWorld()
    world.body.layers[1] = await layer(app, { A: `\${B}`, B: `\${A}` }, world.reader.publicKeyJwk)
    await expect(openSkerry(world).resolve()).rejects.toMatchObject({ code: 'reference_cycle' })
    const { values, unexpanded } = await openSkerry(world, { partial: true }).resolve()
    expect([Object.keys(values), [...unexpanded.keys()]]).toEqual([
      ['HOST', 'LEVEL'],
      ['A', 'B'],
    ])
    expect(Object.keys((await openSkerry(world, { only: ['HOST'] }).resolve()).values)).toEqual(['HOST'])
    expect(await openSkerry(world).get('HOST')).toBe('db')
    await expect(openSkerry(world).get('A')).rejects.toMatchObject({ code: 'reference_cycle' })
    await expect(openSkerry(world, { only: ['A'] }).resolve()).rejects.toMatchObject({ code: 'reference_cycle' })
  })

  test('asks the server every time', async () => {
    const world = await resolveWorld()
    const skerry = openSkerry(world)
    await skerry.resolve()
    world.body.layers[1] = await layer(app, { LEVEL: 'warn' }, world.reader.publicKeyJwk)
    world.etag = '"two"'
    expect(await skerry.get('LEVEL')).toBe('warn')
    await expect(skerry.get('URL')).rejects.toMatchObject({ name: 'SkerryError', code: 'not_found' })
  })

  test('with a malformed token fails before any request, and the error does not repeat the token', async () => {
    const world = await resolveWorld()
    const error = await openSkerry(world, { token: 'skt_secret' } as Partial<SkerrySettings>)
      .resolve()
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'malformed_token' })
    expect(String(error)).not.toContain('skt_secret')
    expect(world.server.requests).toEqual([])
  })

  test('of unchanged secrets costs a 304 and has the same revision', async () => {
    const world = await resolveWorld()
    const skerry = openSkerry(world)
    const first = await skerry.resolve()
    const second = await skerry.resolve()
    expect(world.server.requests[1]!.headers['if-none-match']).toBe('"one"')
    expect(second.revision).toBe(first.revision)
    expect(second.values).toEqual(first.values)
  })
})

describe('a memory cache', () => {
  test('answers without the server until it expires, and no longer', async () => {
    const world = await resolveWorld()
    const clock = { ms: 0 }
    const now = () => clock.ms
    const skerry = openSkerry(world, { now, reuse: memoryCache({ now }) })
    await skerry.resolve()
    clock.ms = 59_999
    expect(await skerry.resolve()).toMatchObject({ stale: false, ageSeconds: 59.999 })
    expect(world.server.requests).toHaveLength(1)
    clock.ms = 60_000
    await skerry.resolve()
    expect(world.server.requests).toHaveLength(2)
  })

  test('is not used after its expiry, even if the server is unavailable', async () => {
    const world = await resolveWorld()
    const clock = { ms: 0 }
    const now = () => clock.ms
    const skerry = openSkerry(world, { now, reuse: memoryCache({ ttlSeconds: 1, now }) })
    await skerry.resolve()
    clock.ms = 1000
    world.answer = () => refuse(500, 'internal')
    await expect(skerry.resolve()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  test('stores no failure', async () => {
    const world = await resolveWorld()
    const skerry = openSkerry(world, { reuse: memoryCache() })
    world.answer = () => refuse(403, 'forbidden')
    await expect(skerry.resolve()).rejects.toMatchObject({ name: 'RefusedError' })
    world.answer = undefined
    expect(await skerry.get('HOST')).toBe('db')
  })
})

describe('after a refusal', () => {
  test('the client sends no ETag, so that the server answers in full', async () => {
    const world = await resolveWorld()
    const skerry = openSkerry(world)
    await skerry.resolve()
    world.answer = () => refuse(403, 'forbidden')
    await expect(skerry.resolve()).rejects.toMatchObject({ name: 'RefusedError' })
    world.answer = undefined
    await skerry.resolve()
    expect(world.server.requests.at(-1)!.headers['if-none-match']).toBeUndefined()
  })
})
