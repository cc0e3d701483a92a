import { once } from 'node:events'
import { connect } from 'node:net'
import { apps } from '@skerry/contract/apps/endpoints'
import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { health } from '@skerry/contract/health/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { recordTrips } from '../../src/features/honey-tokens/trips.ts'
import { newId, sha256 } from '../../src/kernel/context.ts'
import { bearerSecret, ciphertext } from '../blobs.ts'
import { deadTokens } from '../callers.ts'
import { decoys } from '../decoys.ts'
import { newToken, signUp } from '../tenant.ts'
import { until } from '../until.ts'
import { openWorld } from '../world.ts'

const { scene, org, made, register, registerToken, newDecoy, present, recorded, trail } = decoys()

describe('presenting a decoy', () => {
  test('is answered with the same status, headers and body as an unknown, a revoked and an expired token', async () => {
    const dead = await deadTokens(scene.world, scene.tenant)
    const bearers = { ...dead, decoy: `Bearer ${(await newDecoy()).bearer}` }
    const places: [string, string, string?][] = [
      ['GET', '/v1/me'],
      ['GET', '/v1/resolve?env=env_0000000000000000000000'],
      ['GET', `/v1/orgs/${scene.tenant.orgId}/honey-tokens`],
      ['POST', `/v1/orgs/${scene.tenant.orgId}/apps`, '{"name":"x","slug":"x"}'],
      ['DELETE', `/v1/orgs/${scene.tenant.orgId}`],
      ['GET', '/v1/nowhere'],
      ['GET', '/health'],
      ['POST', '/oauth/token', '{"grant_type":"client_credentials"}'],
    ]
    for (const [method, path, body] of places) {
      const answers = await Promise.all(
        Object.values(bearers).map(async (authorization) => {
          const headers = { authorization, ...(body ? { 'content-type': 'application/json' } : {}) }
          const response = await fetch(scene.world.url + path, { method, headers, ...(body ? { body } : {}) })
          const { date, 'x-request-id': id, ...shown } = Object.fromEntries(response.headers)
          return {
            status: response.status,
            headers: shown,
            names: [...response.headers.keys()],
            text: await response.text(),
          }
        }),
      )
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size, path).toBe(1)
    }
  })

  test('is recorded with time, IP address and user agent, and never with the bearer', async () => {
    const decoy = await newDecoy('wiki page')
    const before = scene.world.clock.now().toISOString()
    await present(decoy.bearer, { 'user-agent': `scanner/1.0 ${'x'.repeat(2000)}` })
    const row = await recorded(decoy)
    expect(row).toMatchObject({ tripCount: 1, lastTripIp: '127.0.0.1' })
    expect(row?.lastTripUserAgent).toMatch(/^scanner\/1\.0 x+$/)
    expect(row?.lastTripUserAgent).toHaveLength(500)
    expect(row?.lastTripAt && row.lastTripAt >= before).toBe(true)
    const [entry, ...more] = await trail(decoy)
    expect(more).toEqual([])
    expect(entry).toMatchObject({
      action: 'honey_token.tripped',
      actorType: 'system',
      actorId: null,
      resourceType: 'honey_token',
      ipAddress: '127.0.0.1',
      metadata: { tokenId: decoy.tokenId, placement: 'wiki page', count: 1, at: row?.lastTripAt },
    })
    const secret = decoy.bearer.slice(decoy.tokenId.length)
    expect(JSON.stringify(entry) + scene.world.log.join('') + scene.world.answers.join('')).not.toContain(secret)
  })

  test('on a route that writes, resolves or belongs to another organization trips it too', async () => {
    const decoy = await newDecoy()
    const elsewhere = await signUp(scene.world)
    const stolen = { as: `Bearer ${decoy.bearer}` }
    const envId = newId('environment')
    const answers = [
      await scene.world.call(resolve.get, { ...stolen, query: { env: envId } }),
      await scene.world.call(apps.create, {
        ...stolen,
        params: { orgId: elsewhere.orgId },
        body: { name: 'x', slug: 'x' },
      }),
      await scene.world.call(secrets.put, {
        ...stolen,
        params: { ...org(), envId, name: 'A' },
        body: { ciphertext: ciphertext() },
      }),
      await scene.world.call(honeyTokens.list, { as: `bearer ${decoy.bearer}`, params: org() }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    expect((await recorded(decoy))?.tripCount).toBe(4)
  })

  test('on an open route trips it too, and is answered as usual', async () => {
    const decoy = await newDecoy()
    for (const authorization of [`Bearer ${decoy.bearer}`, `bearer ${decoy.bearer}`]) {
      expect((await scene.world.call(health.live, { as: authorization })).status).toBe(200)
      expect((await scene.world.call(cliLogin.poll, { as: authorization, body: { code: 'no code' } })).status).toBe(400)
    }
    expect((await recorded(decoy))?.tripCount).toBe(4)
  })

  test('on a path that does not exist trips it too', async () => {
    const decoy = await newDecoy()
    const headers = { authorization: `Bearer ${decoy.bearer}` }
    const places = [
      ['GET', '/v1/secrets'],
      ['POST', '/v1/me'],
      ['OPTIONS', '/v1/orgs'],
    ] as const
    for (const [method, path] of places)
      expect((await fetch(scene.world.url + path, { method, headers })).status).toBe(404)
    expect((await recorded(decoy))?.tripCount).toBe(3)
  })

  test('on any path outside the API trips it too, and is answered as usual', async () => {
    const decoy = await newDecoy()
    const authorization = `Bearer ${decoy.bearer}`
    const places = [
      '/',
      '/docs/',
      '/docs/none',
      '/openapi.json',
      '/.well-known/jwks.json',
      '/account/keys',
      '/%ff',
      '/nowhere',
    ]
    for (const path of places) {
      const [plain, shown] = await Promise.all([
        fetch(scene.world.url + path),
        fetch(scene.world.url + path, { headers: { authorization } }),
      ])
      expect(shown.status).toBe(plain.status)
    }
    const raw = [
      'GET / HTTP/1.1',
      'GET /v1/me HTTP/1.1',
      'CONNECT a:1 HTTP/1.1\r\nHost: a',
      'GET / HTTP/1.1\r\nHost: a\r\nExpect: a',
    ]
    for (const head of raw) {
      const socket = connect(Number(new URL(scene.world.url).port), '127.0.0.1')
      socket.end(`${head}\r\nAuthorization: ${authorization}\r\n\r\n`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /)
    }
    expect((await recorded(decoy))?.tripCount).toBe(places.length + raw.length)
  })

  test('with another authorization scheme trips it too', async () => {
    const decoy = await newDecoy()
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const headers = [
      `Token ${decoy.bearer}`,
      decoy.bearer,
      `Bearer  ${decoy.bearer}`,
      basic(`${decoy.bearer}:`),
      basic(`x:${decoy.bearer}`),
    ]
    for (const as of headers) expect((await scene.world.call(me.get, { as })).status).toBe(401)
    expect((await recorded(decoy))?.tripCount).toBe(headers.length)
  })

  test('by registering its id trips it in another organization, but not in its own', async () => {
    const decoy = await newDecoy()
    const elsewhere = await signUp(scene.world)
    const other = { ...made(), tokenId: decoy.tokenId }
    const answers = [
      await registerToken(other, elsewhere),
      await register({ tokenId: other.tokenId, tokenHash: other.tokenHash }, elsewhere),
      await registerToken(other),
      await register({ tokenId: other.tokenId, tokenHash: other.tokenHash }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 409])
    expect((await recorded(decoy))?.tripCount).toBe(2)
    expect(await trail(decoy)).toMatchObject([{ actorType: 'system', ipAddress: '127.0.0.1' }])
  })

  test('with another secret part trips it too, because its id is enough', async () => {
    const decoy = await newDecoy()
    await present(`${decoy.tokenId}_${bearerSecret()}`)
    expect((await recorded(decoy))?.tripCount).toBe(1)
    await present(`${newId('serviceToken')}_${bearerSecret()}`)
    expect((await recorded(decoy))?.tripCount).toBe(1)
  })

  test('does not evict real tokens from the cache', async () => {
    const token = await newToken(scene.world, scene.tenant)
    const decoy = await newDecoy()
    const { cache } = scene.world.server.context
    const remembered = () => cache.findUnconfirmedToken(sha256(token.as.slice(7)))?.id
    // The creation of both evicts the token at first. Once that is over, only a trip could evict it.
    await until('the token is remembered all along', async () => {
      await scene.world.call(me.get, { as: token.as })
      await present(decoy.bearer)
      const before = remembered()
      await recordTrips(scene.world.server.context)
      return before === token.id && remembered() === token.id
    })
    expect(cache.findUnconfirmedToken(decoy.tokenHash)).toBeUndefined()
  })
})

describe('with rate limits', () => {
  test('a decoy uses the same bucket as any unknown token, and is still counted when the bucket is empty', async () => {
    const limited = await openWorld({ SKERRY_RATE_LIMITS: 'on', SKERRY_TRUSTED_PROXIES: '127.0.0.1' })
    try {
      const theirs = await signUp(limited)
      const { bearer, ...body } = made()
      const params = { orgId: theirs.orgId }
      const decoy = await limited.call(honeyTokens.create, { as: theirs.admin.as, params, body })
      const statuses = async (of: () => string, address: string) => {
        const seen: string[] = []
        for (let sent = 0; sent < 200; sent++) {
          const headers = { 'x-forwarded-for': address }
          const { status, error } = await limited.call(me.get, { as: `Bearer ${of()}`, headers })
          seen.push(`${status} ${error?.code}`)
        }
        return new Set(seen)
      }
      const unknown = await statuses(() => made().bearer, '192.0.2.1')
      expect(await statuses(() => bearer, '192.0.2.2')).toEqual(unknown)
      expect([...unknown]).toEqual(['401 unauthorized', '429 rate_limited'])
      await recordTrips(limited.server.context)
      const { body: listed } = await limited.call(honeyTokens.list, { as: theirs.admin.as, params })
      expect(listed.honeyTokens).toMatchObject([{ id: decoy.body.honeyToken.id, tripCount: 200 }])
    } finally {
      await limited.close()
    }
  })
})
