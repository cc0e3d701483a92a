import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test, vi } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import {
  grantKey,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
  putSecret,
  signUp,
} from '../../../test/tenant.ts'
import type { Sql } from '../../db/database.ts'

const { world, tenant, appId, envId } = await openEnv()
const compose = (groupId: string, more = {}) =>
  world.call(composition.set, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId, envId },
    body: { groupId, ...more },
  })

const low = await newGroup(world, tenant)
const high = await newGroup(world, tenant)
const lowEnvId = (await newGroupEnv(world, tenant, low.id)).id
const highEnvId = (await newGroupEnv(world, tenant, high.id)).id
const sandboxId = (await newGroupEnv(world, tenant, low.id, 'sandbox')).id
for (const group of [low, high]) await compose(group.id)
const token = await newToken(world, tenant, { environmentId: envId })
for (const id of [envId, lowEnvId, highEnvId, sandboxId]) await grantKey(world, tenant, id, token)
await putSecret(world, tenant, envId, 'A')
await putSecret(world, tenant, lowEnvId, 'B')

const ask = (query: Record<string, unknown> = {}, as = token.as, headers = {}) =>
  world.call(resolve.get, { as, query, headers })
const denials = async () =>
  (
    await world.call(audit.list, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      query: { action: 'env.resolve_denied' },
    })
  ).body.entries

describe('layers', () => {
  test('run from the lowest composed group to the application environment', async () => {
    const { body } = await ask()
    expect(body.layers.map((layer) => [layer.source, layer.environmentId])).toEqual([
      ['group', lowEnvId],
      ['group', highEnvId],
      ['app', envId],
    ])
    expect(body.layers[0]?.secrets.map((secret) => secret.name)).toEqual(['B'])
    expect(body.scope).toMatchObject({ orgId: tenant.orgId, appId, envId, envSlug: 'production' })
  })

  test('a moved group changes its position at once', async () => {
    await compose(low.id, { position: 9 })
    expect((await ask()).body.layers.map((layer) => layer.groupSlug)).toEqual([high.slug, low.slug, undefined])
    await compose(low.id, { position: 0 })
    expect((await ask()).body.layers.map((layer) => layer.groupSlug)).toEqual([low.slug, high.slug, undefined])
  })

  test('the parameter with selects a group’s environment of another slug', async () => {
    const { body } = await ask({ with: `${low.slug}:sandbox` })
    expect(body.layers[0]?.environmentId).toBe(sandboxId)
  })

  test('the parameter with is refused if it names an unknown group or slug, or one group twice', async () => {
    const asked = await Promise.all([
      ask({ with: 'nowhere:production' }),
      ask({ with: `${low.slug}:nowhere` }),
      ask({ with: [`${low.slug}:sandbox`, `${low.slug}:production`] }),
      ask({ with: 'no-colon' }),
    ])
    expect(asked.map((answer) => answer.status)).toEqual([400, 400, 400, 400])
  })

  test('a composed group without an environment of that slug contributes no layer', async () => {
    const group = await newGroup(world, tenant)
    await compose(group.id)
    expect((await ask()).body.layers).toHaveLength(3)
  })
})

describe('branches', () => {
  const fork = (body: object) =>
    world.call(branches.create, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, envId },
      body: { slug: 'feature', wrappedDek: wrappedKey(), ...body },
    })

  test('the layer of a branch comes last, found by slug or by id, and the scope names its parent', async () => {
    const grant = { principalType: 'service_token', principalId: token.id, wrappedDek: wrappedKey() }
    const { body } = await fork({ slug: 'feature-1', grants: [grant] })
    await putSecret(world, tenant, body.branch.id, 'A')
    for (const branch of ['feature-1', body.branch.id]) {
      const { body: answer } = await ask({ branch })
      expect(answer.layers.at(-1)).toMatchObject({ source: 'branch', slug: 'feature-1', environmentId: body.branch.id })
      expect(answer.scope).toMatchObject({ envId: body.branch.id, branchOf: envId })
    }
  })

  test('an expired branch is gone at once, from memory too', async () => {
    const grant = { principalType: 'service_token', principalId: token.id, wrappedDek: wrappedKey() }
    await fork({ slug: 'short', ttlSeconds: 60, grants: [grant] })
    expect((await ask({ branch: 'short' })).status).toBe(200)
    expect((await ask({ branch: 'short' })).status).toBe(200)
    world.clock.advance(61)
    expect((await ask({ branch: 'short' })).status).toBe(404)
  })

  test('an environment that is a branch answers as itself, and not as another branch', async () => {
    const { body: one } = await fork({ slug: 'one' })
    const { body: two } = await fork({ slug: 'two' })
    const statusOf = async (query: object) => (await ask({ env: one.branch.id, ...query }, tenant.admin.as)).status
    expect([await statusOf({}), await statusOf({ branch: 'one' }), await statusOf({ branch: one.branch.id })]).toEqual([
      200, 200, 200,
    ])
    expect([await statusOf({ branch: 'two' }), await statusOf({ branch: two.branch.id })]).toEqual([404, 404])
    expect(await statusOf({ branch: 'nowhere' })).toBe(404)
  })

  test('a branch that does not exist, or that belongs to another environment, is not found', async () => {
    const other = await newEnv(world, tenant, appId, 'staging')
    expect((await ask({ branch: 'nowhere' })).status).toBe(404)
    expect((await ask({ branch: other.id })).status).toBe(404)
  })
})

describe('refusals', () => {
  test('a missing grant on any one layer refuses the whole answer, and the denial is recorded', async () => {
    const poor = await newToken(world, tenant, { environmentId: envId })
    await grantKey(world, tenant, envId, poor)
    const answer = await ask({}, poor.as)
    expect(answer.status).toBe(403)
    const [entry] = await denials()
    expect(entry).toMatchObject({ actorId: poor.id, resourceId: envId, metadata: { missing: [lowEnvId, highEnvId] } })
  })

  test('a bound token that names another environment is refused, and the denial is recorded', async () => {
    const other = await newEnv(world, tenant, appId, 'elsewhere')
    expect((await ask({ env: other.id })).status).toBe(403)
    expect((await denials())[0]).toMatchObject({
      actorId: token.id,
      resourceId: other.id,
      metadata: { asked: { env: other.id } },
    })
    expect((await ask({ env: envId })).status).toBe(200)
  })

  test('an unbound token must name the environment in its request', async () => {
    expect((await ask({}, tenant.admin.as)).status).toBe(400)
    expect((await ask({ env: envId }, tenant.admin.as)).status).toBe(200)
  })

  test('an environment of another organization, or of a group, is not found', async () => {
    const stranger = await signUp(world)
    expect((await ask({ env: envId }, stranger.admin.as)).status).toBe(404)
    expect((await ask({ env: lowEnvId }, tenant.admin.as)).status).toBe(404)
  })

  test('a machine client is refused, because it holds no key, and its request is recorded', async () => {
    const asked = { env: envId, branch: 'fix', with: ['one:two'] }
    expect((await ask(asked, tenant.machine.as)).status).toBe(403)
    expect((await denials())[0]).toMatchObject({ actorId: tenant.machine.id, resourceId: envId, metadata: { asked } })
    const bearer = tenant.admin.as.slice('Bearer '.length)
    expect((await ask({ env: bearer, branch: bearer, with: bearer }, tenant.machine.as)).status).toBe(403)
    expect((await denials())[0]?.metadata).toMatchObject({ asked: {} })
    expect(JSON.stringify(await denials())).not.toContain(bearer)
  })

  test('a token that asks for an environment of another organization gets 404, and its own organization records the denial', async () => {
    const stranger = await signUp(world)
    expect((await ask({ env: envId, branch: 'fix' }, stranger.admin.as)).status).toBe(404)
    const query = { action: 'env.resolve_denied' }
    const trail = { as: stranger.admin.as, params: { orgId: stranger.orgId }, query }
    expect((await world.call(audit.list, trail)).body.entries).toMatchObject([
      {
        actorId: stranger.admin.id,
        resourceId: envId,
        metadata: { reason: 'no such env', asked: { env: envId, branch: 'fix' } },
      },
    ])
    expect((await denials()).map(({ actorId }) => actorId)).not.toContain(stranger.admin.id)
  })

  test('a member without a grant gets 403, and a person from outside gets 404', async () => {
    const member = await newMember(world, tenant)
    expect((await ask({ env: envId }, member.as)).status).toBe(403)
    const outsider = await newMember(world, await signUp(world))
    expect((await ask({ env: envId }, outsider.as)).status).toBe(404)
  })
})

describe('freshness', () => {
  test('a write, a deletion and a revoked grant show in the next answer', async () => {
    const before = await ask()
    await putSecret(world, tenant, envId, 'FRESH')
    const written = await ask()
    expect(names(written)).toContain('FRESH')
    expect(written.headers.get('etag')).not.toBe(before.headers.get('etag'))
    await world.call(secrets.delete, { as: tenant.admin.as, params: { orgId: tenant.orgId, envId, name: 'FRESH' } })
    expect(names(await ask())).not.toContain('FRESH')
    const fresh = await newToken(world, tenant)
    const grant = await Promise.all([envId, lowEnvId, highEnvId].map((id) => grantKey(world, tenant, id, fresh)))
    expect((await ask({ env: envId }, fresh.as)).status).toBe(200)
    const params = { orgId: tenant.orgId, envId: highEnvId, grantId: grant[2]?.id as string }
    await world.call(grants.delete, { as: tenant.admin.as, params })
    expect((await ask({ env: envId }, fresh.as)).status).toBe(403)
  })

  test('a grouped write by a cached token shows in the next answer', async () => {
    const read = () => ask({ env: envId }, tenant.admin.as)
    for (let time = 0; time < 2; time++) expect(names(await read())).not.toContain('GROUPED')
    await putSecret(world, tenant, envId, 'GROUPED')
    expect(names(await read())).toContain('GROUPED')
  })

  test('a revoked token is refused on its next request', async () => {
    const shortLived = await newToken(world, tenant)
    for (const id of [envId, lowEnvId, highEnvId]) await grantKey(world, tenant, id, shortLived)
    expect((await ask({ env: envId }, shortLived.as)).status).toBe(200)
    await world.call(tokens.revoke, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, tokenId: shortLived.id },
    })
    expect((await ask({ env: envId }, shortLived.as)).status).toBe(401)
  })

  /** Makes a change after the database has answered a read, and before that answer arrives. */
  async function whileReading<T>(
    db: Sql,
    method: 'row' | 'rows',
    statement: string,
    read: () => Promise<T>,
    change: () => unknown,
  ) {
    const original = db[method].bind(db)
    const found = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const spied = vi.spyOn(db, method).mockImplementation(async (text, values) => {
      const answer = await original(text, values)
      if (text.includes(statement)) {
        spied.mockRestore()
        found.resolve()
        await released.promise
      }
      // A mock of a generic function cannot know the type of its answer.
      return answer as never
    })
    try {
      const reading = read()
      await found.promise
      await change()
      released.resolve()
      return await reading
    } finally {
      spied.mockRestore()
      released.resolve()
    }
  }

  test('a secret written while an answer was being read shows in the next', async () => {
    const fresh = await newToken(world, tenant)
    for (const id of [envId, lowEnvId, highEnvId]) await grantKey(world, tenant, id, fresh)
    const read = () => ask({ env: envId }, fresh.as)
    const change = () => putSecret(world, tenant, envId, 'MEANWHILE')
    const before = await whileReading(world.server.context.db, 'rows', 'with asked as', read, change)
    expect(names(before)).not.toContain('MEANWHILE')
    expect(names(await read())).toContain('MEANWHILE')
  })

  test('a token revoked while it was being looked up is refused on its next request', async () => {
    const fresh = await newToken(world, tenant)
    for (const id of [envId, lowEnvId, highEnvId]) await grantKey(world, tenant, id, fresh)
    const read = () => ask({ env: envId }, fresh.as)
    const params = { orgId: tenant.orgId, tokenId: fresh.id }
    const revoke = () => world.call(tokens.revoke, { as: tenant.admin.as, params })
    const { lookups } = world.server.context.db
    expect((await whileReading(lookups, 'row', 'from service_tokens t left join', read, revoke)).status).toBe(200)
    expect((await read()).status).toBe(401)
  })

  test('a token is refused from the instant it expires', async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const shortLived = await newToken(world, tenant, { expiresAt })
    for (const id of [envId, lowEnvId, highEnvId]) await grantKey(world, tenant, id, shortLived)
    expect((await ask({ env: envId }, shortLived.as)).status).toBe(200)
    world.clock.advance(61)
    expect((await ask({ env: envId }, shortLived.as)).status).toBe(401)
  })

  test('an unchanged answer is 304 for its own tag, and not for the tag of anybody else', async () => {
    const { headers } = await ask()
    const etag = headers.get('etag') as string
    const unchanged = await ask({}, token.as, { 'if-none-match': etag })
    expect([unchanged.status, unchanged.headers.get('content-length')]).toEqual([304, null])
    // RFC 9110 section 15.4.5: a cache that renews its entry with this answer must still know that the entry is
    // private.
    expect(unchanged.headers.get('cache-control')).toBe(headers.get('cache-control'))
    expect((await ask({}, token.as, { 'if-none-match': `"other", W/${etag}` })).status).toBe(304)
    expect((await ask({}, token.as, { 'if-none-match': '"other"' })).status).toBe(200)
    const other = await ask({ env: envId }, tenant.admin.as)
    expect(other.headers.get('etag')).not.toBe(etag)
  })

  test('deleting a composed group’s environment drops its layer', async () => {
    await world.call(envs.delete, { as: tenant.admin.as, params: { orgId: tenant.orgId, envId: highEnvId } })
    expect((await ask()).body.layers.map((layer) => layer.environmentId)).toEqual([lowEnvId, envId])
  })
})

const names = (answer: Awaited<ReturnType<typeof ask>>) =>
  answer.body.layers.flatMap((layer) => layer.secrets.map((secret) => secret.name))
