import { apps } from '@skerry/contract/apps'
import { audit } from '@skerry/contract/audit'
import { cliLogin } from '@skerry/contract/cli-login'
import { grants } from '@skerry/contract/grants'
import { honeyTokens } from '@skerry/contract/honey-tokens'
import { me } from '@skerry/contract/me'
import { resolve } from '@skerry/contract/resolve'
import { secrets } from '@skerry/contract/secrets'
import { health } from '@skerry/contract/signup'
import { tokens } from '@skerry/contract/tokens'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearerSecret, ciphertext, publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { deadTokens } from '../../../test/callers.ts'
import { newApp, newEnv, newMember, newToken, signUp, type Tenant } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { openWorld, start, type World } from '../../../test/world.ts'
import { newId, sha256 } from '../../http/context.ts'
import { recordTrips } from './trips.ts'

let world: World
let tenant: Tenant
beforeAll(async () => {
  world = await openWorld()
  tenant = await signUp(world)
})
afterAll(() => world.close())

const org = () => ({ orgId: tenant.orgId })
const as = () => ({ as: tenant.admin.as })
const made = () => {
  const tokenId = newId('serviceToken')
  const bearer = `${tokenId}_${bearerSecret()}`
  return { tokenId, tokenHash: sha256(bearer), bearer }
}
const register = (body: Record<string, unknown>, by = tenant) =>
  world.call(honeyTokens.create, { as: by.admin.as, params: { orgId: by.orgId }, body })
const registerToken = ({ tokenId, tokenHash }: { tokenId: string; tokenHash: string }, by = tenant) => {
  const body = { name: 'a token', tokenId, tokenHash, publicKeyJwk: publicKeyJwk() }
  return world.call(tokens.create, { as: by.admin.as, params: { orgId: by.orgId }, body })
}

async function newDecoy(placement?: string) {
  const { bearer, ...ids } = made()
  const answer = await register({ ...ids, ...(placement === undefined ? {} : { placement }) })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return { ...ids, bearer, id: answer.body.honeyToken.id }
}
const present = (bearer: string, headers: Record<string, string> = {}) =>
  world.call(me.get, { as: `Bearer ${bearer}`, headers })
const shown = async ({ id }: { id: string }) => {
  const { body } = await world.call(honeyTokens.list, { ...as(), params: org() })
  return body.honeyTokens.find((one) => one.id === id)
}
const recorded = async (decoy: { id: string }) => {
  await recordTrips(world.server.context)
  return shown(decoy)
}
const trail = async ({ id }: { id: string }) => {
  const query = { action: 'honey_token.tripped', resourceId: id }
  return (await world.call(audit.list, { ...as(), params: org(), query })).body.entries
}

describe('registering a decoy', () => {
  test('answers everything but the hash, and lists it with no trips', async () => {
    const { bearer, ...ids } = made()
    const { status, body } = await register({ ...ids, placement: 'CI settings of the old shop' })
    expect(status).toBe(201)
    const row = {
      id: expect.stringMatching(/^hny_/),
      tokenId: ids.tokenId,
      placement: 'CI settings of the old shop',
      tripCount: 0,
      lastTripAt: null,
      lastTripIp: null,
      lastTripUserAgent: null,
      createdAt: expect.any(String),
    }
    expect(body.honeyToken).toEqual(row)
    expect(await shown(body.honeyToken)).toEqual(row)
    expect(world.answers.join('')).not.toContain(ids.tokenHash)
  })

  test('takes no public key, and says so', async () => {
    const { bearer, ...ids } = made()
    const { status, error } = await register({ ...ids, publicKeyJwk: publicKeyJwk() })
    expect([status, error?.message]).toEqual([400, 'body: unknown field "publicKeyJwk"'])
  })

  test('under the id or hash of a token or of another decoy is a conflict, in whatever organization', async () => {
    const other = await signUp(world)
    const [token, decoy] = [made(), made()]
    await registerToken(token)
    await register({ tokenId: decoy.tokenId, tokenHash: decoy.tokenHash })
    for (const taken of [token, decoy])
      for (const by of [tenant, other])
        for (const same of [{ tokenId: taken.tokenId }, { tokenHash: taken.tokenHash }]) {
          const { bearer, ...ids } = made()
          expect((await register({ ...ids, ...same }, by)).error?.code).toBe('conflict')
          expect((await registerToken({ ...ids, ...same }, by)).error?.code).toBe('conflict')
        }
  })

  test('and a token at once, under one id, makes one of them', async () => {
    const { bearer, ...ids } = made()
    const answers = await Promise.all([register(ids), registerToken(ids), register(ids), registerToken(ids)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  test('is for admins, and its decoys are seen by no other organization', async () => {
    const decoy = await newDecoy()
    const member = await newMember(world, tenant)
    const { bearer, ...body } = made()
    const other = await signUp(world)
    const asked = [
      world.call(honeyTokens.list, { as: member.as, params: org() }),
      world.call(honeyTokens.create, { as: member.as, params: org(), body }),
      world.call(honeyTokens.delete, { as: member.as, params: { ...org(), honeyTokenId: decoy.id } }),
    ]
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403, 403])
    const params = { orgId: other.orgId, honeyTokenId: decoy.id }
    const foreign = await world.call(honeyTokens.delete, { as: other.admin.as, params })
    expect([foreign.status, foreign.error?.message]).toEqual([404, 'no such honey token'])
    expect((await world.call(honeyTokens.list, { as: other.admin.as, params })).body.honeyTokens).toEqual([])
  })
})

describe('a decoy', () => {
  test('is no service token: it is not listed, renamed, revoked, deleted or granted a key', async () => {
    const decoy = await newDecoy()
    const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    const params = { ...org(), envId, tokenId: decoy.tokenId }
    const { body } = await world.call(tokens.list, { ...as(), params })
    expect(JSON.stringify(body)).not.toContain(decoy.tokenId)
    const refused = [
      await world.call(tokens.update, { ...as(), params, body: { name: 'x' } }),
      await world.call(tokens.revoke, { ...as(), params }),
      await world.call(tokens.delete, { ...as(), params }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404])
    const grant = (principalId: string) => ({
      principalType: 'service_token',
      principalId,
      wrappedDek: wrappedKey(),
    })
    const granted = await world.call(grants.create, { ...as(), params, body: grant(decoy.tokenId) })
    const unknown = await world.call(grants.create, { ...as(), params, body: grant(newId('serviceToken')) })
    expect([granted.status, granted.error]).toEqual([400, unknown.error])
  })

  test('that is deleted is gone, stays unknown, counts no more, and leaves its id free', async () => {
    const decoy = await newDecoy()
    const remove = () => world.call(honeyTokens.delete, { ...as(), params: { ...org(), honeyTokenId: decoy.id } })
    expect((await remove()).body).toEqual({ ok: true })
    expect((await remove()).status).toBe(404)
    expect((await present(decoy.bearer)).error?.message).toBe('unknown service token')
    expect(await recorded(decoy)).toBeUndefined()
    expect(await trail(decoy)).toEqual([])
    expect((await register({ tokenId: decoy.tokenId, tokenHash: decoy.tokenHash })).status).toBe(201)
  })

  test('that is deleted while it is tried leaves no half of a trip', async () => {
    const decoy = await newDecoy()
    await present(decoy.bearer)
    await world.call(honeyTokens.delete, { ...as(), params: { ...org(), honeyTokenId: decoy.id } })
    await recordTrips(world.server.context)
    expect(await trail(decoy)).toEqual([])
  })
})

describe('presenting a decoy', () => {
  test('is answered in the bytes and headers of an unknown, a revoked and an expired token', async () => {
    const dead = await deadTokens(world, tenant)
    const bearers = { ...dead, decoy: `Bearer ${(await newDecoy()).bearer}` }
    const places: [string, string, string?][] = [
      ['GET', '/v1/me'],
      ['GET', '/v1/resolve?env=env_0000000000000000000000'],
      ['GET', `/v1/orgs/${tenant.orgId}/honey-tokens`],
      ['POST', `/v1/orgs/${tenant.orgId}/apps`, '{"name":"x","slug":"x"}'],
      ['DELETE', `/v1/orgs/${tenant.orgId}`],
      ['GET', '/v1/nowhere'],
      ['GET', '/health'],
      ['POST', '/oauth/token', '{"grant_type":"client_credentials"}'],
    ]
    for (const [method, path, body] of places) {
      const answers = await Promise.all(
        Object.values(bearers).map(async (authorization) => {
          const headers = { authorization, ...(body ? { 'content-type': 'application/json' } : {}) }
          const response = await fetch(world.url + path, { method, headers, ...(body ? { body } : {}) })
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

  test('is counted, with when, from where and by what, and told in the trail without the bearer', async () => {
    const decoy = await newDecoy('wiki page')
    const before = world.clock.now().toISOString()
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
      metadata: { tokenId: decoy.tokenId, placement: 'wiki page', times: 1, at: row?.lastTripAt },
    })
    const secret = decoy.bearer.slice(decoy.tokenId.length)
    expect(JSON.stringify(entry) + world.log.join('') + world.answers.join('')).not.toContain(secret)
  })

  test('on a route that writes, resolves or belongs to another organization trips it too', async () => {
    const decoy = await newDecoy()
    const elsewhere = await signUp(world)
    const stolen = { as: `Bearer ${decoy.bearer}` }
    const envId = newId('environment')
    const answers = [
      await world.call(resolve.get, { ...stolen, query: { env: envId } }),
      await world.call(apps.create, { ...stolen, params: { orgId: elsewhere.orgId }, body: { name: 'x', slug: 'x' } }),
      await world.call(secrets.put, {
        ...stolen,
        params: { ...org(), envId, name: 'A' },
        body: { ciphertext: ciphertext() },
      }),
      await world.call(honeyTokens.list, { as: `bearer ${decoy.bearer}`, params: org() }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    expect((await recorded(decoy))?.tripCount).toBe(4)
  })

  test('where no credential is asked for trips it too, and is answered as ever', async () => {
    const decoy = await newDecoy()
    for (const authorization of [`Bearer ${decoy.bearer}`, `bearer ${decoy.bearer}`]) {
      expect((await world.call(health.live, { as: authorization })).status).toBe(200)
      expect((await world.call(cliLogin.poll, { as: authorization, body: { code: 'no code' } })).status).toBe(400)
    }
    expect((await recorded(decoy))?.tripCount).toBe(4)
  })

  test('a hundred times at once counts a hundred, in one entry for each address and program', async () => {
    const decoy = await newDecoy()
    const agents = ['one/1', 'two/2']
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => present(decoy.bearer, { 'user-agent': agents[index % 2] as string })),
    )
    expect((await recorded(decoy))?.tripCount).toBe(100)
    const times = (await trail(decoy)).map(({ metadata }) => (metadata as { times: number }).times)
    expect(times.reduce((sum, one) => sum + one, 0)).toBe(100)
  })

  test('whole or with another end trips it: what was planted is not always what is presented', async () => {
    const decoy = await newDecoy()
    await present(`${decoy.tokenId}_${bearerSecret()}`)
    expect((await recorded(decoy))?.tripCount).toBe(1)
    await present(`${newId('serviceToken')}_${bearerSecret()}`)
    expect((await recorded(decoy))?.tripCount).toBe(1)
  })

  test('is worth an alert at most every ten minutes', async () => {
    const decoy = await newDecoy()
    const alertedAt = async () => {
      await present(decoy.bearer)
      await recordTrips(world.server.context)
      const { db } = world.server.context
      return (await db.row<{ at: string }>('select last_alert_at as at from honey_tokens where id = $1', [decoy.id]))
        ?.at
    }
    const first = await alertedAt()
    expect(first).toBe((await shown(decoy))?.lastTripAt)
    world.clock.advance(590)
    expect(await alertedAt()).toBe(first)
    world.clock.advance(15)
    expect(await alertedAt()).toBe((await shown(decoy))?.lastTripAt)
  })

  test('is recorded by itself within moments', async () => {
    const decoy = await newDecoy()
    await present(decoy.bearer)
    await until('the trip is counted', async () => (await shown(decoy))?.tripCount === 1)
  })

  test('while the database refuses the record is counted once it takes it', async () => {
    const decoy = await newDecoy()
    const { db } = world.server.context
    await db.script('alter table honey_tokens rename to honey_tokens_away')
    await present(decoy.bearer)
    await present(decoy.bearer)
    await expect(recordTrips(world.server.context)).rejects.toThrow()
    await present(decoy.bearer)
    await db.script('alter table honey_tokens_away rename to honey_tokens')
    expect((await recorded(decoy))?.tripCount).toBe(3)
  })

  test('leaves what is remembered of real tokens alone', async () => {
    const token = await newToken(world, tenant)
    const decoy = await newDecoy()
    const { cache } = world.server.context
    await world.call(me.get, { as: token.as })
    await present(decoy.bearer)
    expect(cache.recallToken(sha256(token.as.slice(7)))?.id).toBe(token.id)
    await recordTrips(world.server.context)
    expect(cache.recallToken(sha256(token.as.slice(7)))?.id).toBe(token.id)
    expect(cache.recallToken(decoy.tokenHash)).toBeUndefined()
  })
})

test('a server that stops has recorded the trips that it saw', async () => {
  const own = await openWorld()
  try {
    const { server } = own
    const config = { ...server.context.config, baseUrl: null }
    const theirs = await signUp(own)
    const { bearer, ...body } = made()
    const params = { orgId: theirs.orgId }
    await own.call(honeyTokens.create, { as: theirs.admin.as, params, body })
    await Promise.all(Array.from({ length: 20 }, () => own.call(me.get, { as: `Bearer ${bearer}` })))
    await server.close()
    const again = await start(config, own.log, own.clock.now)
    const counted = await again.context.db.row<{ tripCount: number }>('select trip_count from honey_tokens')
    await again.close()
    expect(counted?.tripCount).toBe(20)
  } finally {
    await own.close()
  }
})

describe('with rate limits', () => {
  test('a decoy draws on the bucket that any unknown token draws on, and is still counted when it is empty', async () => {
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
