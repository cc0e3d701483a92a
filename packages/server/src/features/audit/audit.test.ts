import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { auditActions } from '@skerry/contract/actions'
import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { limits } from '@skerry/contract/limits'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { readPages } from '../../../test/read-pages.ts'
import { openEnv } from '../../../test/scene.ts'
import {
  type Actor,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
  putSecret,
  signUp,
} from '../../../test/tenant.ts'

const { world, tenant, envId } = await openEnv()
/** An organization with fewer entries than one page. */
const quiet = await openEnv()
for (const name of ['A', 'B', 'C']) await putSecret(world, tenant, envId, name)

const ask = (query: Record<string, unknown> = {}, actor: Actor = tenant.admin, at = tenant) =>
  world.call(audit.list, { as: actor.as, params: { orgId: at.orgId }, query })

describe('the audit log', () => {
  test('lists, newest first, who did what to which resource, and from where', async () => {
    const app = await newApp(world, tenant)
    const { entries } = (await ask()).body
    expect(entries[0]).toMatchObject({
      action: 'app.created',
      actorType: 'service_token',
      actorId: tenant.admin.id,
      resourceType: 'application',
      resourceId: app.id,
      metadata: { slug: app.slug },
      ipAddress: '127.0.0.1',
      userAgent: 'node',
      requestId: expect.stringMatching(/^req_/),
    })
    const instants = entries.map(({ createdAt }) => createdAt)
    expect(instants).toEqual(instants.toSorted().reverse())
  })

  test('has the request id that the answer to the request had', async () => {
    const answer = await world.call(apps.create, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      body: { name: 'Traced', slug: 'traced' },
    })
    const { entries } = (await ask({ resourceId: answer.body.app.id })).body
    expect(entries.map(({ requestId }) => requestId)).toEqual([answer.headers.get('x-request-id')])
  })

  test('can be read by admins, also by a machine client and an admin token, but not by members', async () => {
    for (const actor of [tenant.machine, tenant.admin, await newMember(world, tenant, 'admin')])
      expect((await ask({}, actor)).status).toBe(200)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect((await ask({}, actor)).status).toBe(403)
  })

  test('shows only the entries of one organization', async () => {
    const stranger = await signUp(world)
    expect((await ask({}, stranger.admin)).status).toBe(404)
    const { entries } = (await ask({ limit: 200 }, stranger.admin, stranger)).body
    expect(entries.map(({ action }) => action).sort()).toEqual([
      'machine_client.created',
      'org.created',
      'token.created',
    ])
  })

  test('shortens a long user agent and never contains a bearer token', async () => {
    const headers = { 'user-agent': 'x'.repeat(2000) }
    await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, headers })
    const { status } = await ask({}, { as: 'Bearer skt_nobody', id: '' })
    expect(status).toBe(401)
    const { body } = await ask({ limit: 200 })
    for (const { userAgent } of body.entries) expect((userAgent ?? '').length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(body)).not.toContain(tenant.admin.as.slice(-43))
  })
})

describe('filters', () => {
  test('by action, resource type, resource and actor each keep only matching entries', async () => {
    const other = await newToken(world, tenant, { role: 'admin' })
    await newApp(world, { ...tenant, admin: other })
    const cases: [Record<string, string>, (entry: Record<string, unknown>) => boolean][] = [
      [{ action: 'secret.written' }, (entry) => entry.action === 'secret.written'],
      [{ resourceType: 'service_token' }, (entry) => entry.resourceType === 'service_token'],
      [{ resourceId: envId }, (entry) => entry.resourceId === envId],
      [{ actorId: other.id }, (entry) => entry.actorId === other.id],
    ]
    const all = (await ask({ limit: 200 })).body.entries
    for (const [query, matches] of cases) {
      const { entries } = (await ask({ limit: 200, ...query })).body
      expect(entries.length).toBeGreaterThan(0)
      expect(entries.length).toBeLessThan(all.length)
      expect(entries).toEqual(all.filter(matches))
    }
  })

  test('by request id keep the entries of that request', async () => {
    const app = await world.call(apps.create, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      body: { name: 'Asked', slug: 'asked' },
    })
    const { entries } = (await ask({ requestId: app.headers.get('x-request-id') })).body
    expect(entries).toMatchObject([{ action: 'app.created', resourceId: app.body.app.id }])
    expect((await ask({ requestId: 'req_nobody' })).body.entries).toEqual([])
  })

  test('by time keep entries from one instant on and before another, in any time zone', async () => {
    const instants = []
    for (let n = 0; n < 3; n++) {
      world.clock.advance(60)
      await newGroup(world, tenant)
      instants.push((await ask({ action: 'group.created', limit: 1 })).body.entries[0]?.createdAt as string)
    }
    const [first, second, third] = instants as [string, string, string]
    const between = async (query: object) =>
      (await ask({ action: 'group.created', ...query })).body.entries.map(({ createdAt }) => createdAt)
    expect(await between({ since: first })).toEqual([third, second, first])
    expect(await between({ since: first, until: third })).toEqual([second, first])
    const shifted = `${new Date(Date.parse(second) + 7_200_000).toISOString().slice(0, -1)}+02:00`
    expect(await between({ since: shifted })).toEqual([third, second])
    expect((await ask({ since: '2026-02-30T00:00:00Z' })).error?.message).toBe(
      'query.since: is not a valid date and time',
    )
  })

  test('by text find entries by names and by metadata, in upper or lower case', async () => {
    const app = await newApp(world, tenant)
    await world.call(apps.update, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, appId: app.id },
      body: { name: 'Harbour Master' },
    })
    const found = async (text: string) => (await ask({ text, limit: 200 })).body
    const { entries, names } = await found('harbour')
    expect(new Set(entries.map(({ resourceId }) => resourceId))).toEqual(new Set([app.id]))
    expect(entries.map(({ action }) => action)).toEqual(['app.updated', 'app.created'])
    expect(names[app.id]).toBe('Harbour Master')
    expect(names[tenant.admin.id]).toBe('a token')
    expect((await found(app.slug)).entries.length).toBeGreaterThan(0)
    expect((await found('100%_nothing')).entries).toEqual([])
    expect((await ask({ text: '' })).status).toBe(400)
  })

  test('by text find a token although more secrets have matching names than the search reads', async () => {
    const crowded = await signUp(world)
    const { id } = await newEnv(world, crowded, (await newApp(world, crowded)).id)
    const { db } = world.server.context
    await db.rows(
      `insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
       select $1, 'sec_' || left(md5(n::text), 22), $2, 'PLENTY_' || n, 1, 'c', now(), now() from generate_series(1, 10001) n`,
      [crowded.orgId, id],
    )
    const { id: tokenId } = await newToken(world, crowded)
    await db.rows(`update service_tokens set name = 'Plenty' where id = $1`, [tokenId])
    const { entries } = (await ask({ text: 'plenty' }, crowded.admin, crowded)).body
    expect(entries.map(({ action, resourceId }) => [action, resourceId])).toContainEqual(['token.created', tokenId])
  })

  test('can be combined, and an entry must match all of them', async () => {
    const query = { action: 'secret.written', actorId: tenant.admin.id, resourceType: 'secret' }
    expect((await ask(query)).body.entries).toHaveLength(3)
    expect((await ask({ ...query, actorId: tenant.machine.id })).body.entries).toEqual([])
    expect((await ask({ ...query, resourceType: 'group' })).body.entries).toEqual([])
  })

  test.each([
    { action: 'secret.read' },
    { action: 'secretXwritten' },
    { action: '' },
    { resourceType: 'nothing' },
    { resourceId: "'; drop table audit_entries; --" },
    { actorId: 'x'.repeat(65) },
    { requestId: 'a b' },
    { since: 'yesterday' },
    { until: '2026-01-01' },
    { color: 'red' },
  ])('with unknown or invalid values are refused: %j', async (query) => {
    expect((await ask(query)).status).toBe(400)
  })
})

describe('pages', () => {
  test('have 50 entries by default, and at most 200', async () => {
    for (let n = 0; n < 52; n++) await newGroup(world, tenant)
    const { body } = await ask()
    expect(body.entries).toHaveLength(50)
    expect(body.nextCursor).not.toBeNull()
    expect((await ask({ limit: 60 })).body.entries).toHaveLength(60)
    for (const limit of [0, 201, 'many']) expect((await ask({ limit })).status).toBe(400)
  })

  test('list every entry once, although entries are added meanwhile', async () => {
    const all = (await ask({ limit: 200 })).body.entries.map(({ id }) => id)
    const pages = await readPages(
      async (cursor) => {
        const { body } = await ask({ limit: 20, ...cursor })
        return { rows: body.entries.map(({ id }) => id), nextCursor: body.nextCursor }
      },
      async () => {
        world.clock.advance(1)
        await newApp(world, tenant)
      },
    )
    expect(pages.flat()).toEqual(all)
    for (const page of pages.slice(0, -1)) expect(page).toHaveLength(20)
  })

  test('keep the filter of the first page', async () => {
    const pages = await readPages(async (cursor) => {
      const { body } = await ask({ limit: 1, action: 'secret.written', ...cursor })
      return { rows: body.entries.map(({ action }) => action), nextCursor: body.nextCursor }
    })
    expect(pages).toEqual([['secret.written'], ['secret.written'], ['secret.written']])
  })
})

describe('the timeline', () => {
  const { world: own, tenant: shop, envId: env } = quiet
  const count = async (query: Record<string, unknown> = {}, actor: Actor = shop.admin) =>
    (await own.call(audit.timeline, { as: actor.as, params: { orgId: shop.orgId }, query })).body
  const total = (spans: readonly { counts: Record<string, number> }[], group?: string) =>
    spans.reduce((sum, { counts }) => sum + (group ? counts[group]! : Object.values(counts).reduce((a, b) => a + b)), 0)
  const entries = async (query: Record<string, unknown>) => {
    const answer = await own.call(audit.list, { as: shop.admin.as, params: { orgId: shop.orgId }, query })
    return answer.body.entries.length
  }

  test('counts every entry once, by group, in whole UTC days without a gap', async () => {
    await putSecret(own, shop, env, 'TODAY')
    own.clock.advance(3 * 86_400)
    await putSecret(own, shop, env, 'LATER')
    const { step, spans } = await count()
    expect(step).toBe('day')
    expect(spans).toHaveLength(limits.timelineDaysDefault)
    for (const [at, { since }] of spans.entries()) if (at > 0) expect(since).toBe(spans[at - 1]?.until)
    for (const { since } of spans) expect(since).toMatch(/T00:00:00\.000Z$/)
    expect(total(spans)).toBe(await entries({ limit: 200 }))
    expect(spans.map((span) => total([span], 'secrets')).filter((n) => n > 0)).toEqual([1, 1])
  })

  test('counts by the hour in a short range, and each span equals the list for its time', async () => {
    await putSecret(own, shop, env, 'HOURLY')
    const until = new Date(own.clock.now().getTime() + 60_000).toISOString()
    const since = new Date(Date.parse(until) - 5.5 * 3_600_000).toISOString()
    const { step, spans } = await count({ since, until })
    expect(step).toBe('hour')
    expect([spans[0]?.since, spans.at(-1)?.until]).toEqual([since, until])
    expect(total(spans)).toBeGreaterThan(0)
    for (const span of spans) expect(total([span])).toBe(await entries({ since: span.since, until: span.until }))
  })

  test('accepts the filters of the list', async () => {
    const query = { action: 'secret.written' }
    const { spans } = await count(query)
    expect(total(spans)).toBe(await entries(query))
    expect(total(spans)).toBe(total(spans, 'secrets'))
    expect(total((await count({ text: 'no such name' })).spans)).toBe(0)
    expect((await count({ since: '2026-02-02T00:00:00Z', until: '2026-02-01T00:00:00Z' })).spans).toEqual([])
  })

  test('is limited to 366 days, and is only for admins', async () => {
    const ask = (query: Record<string, string>, actor: Actor = shop.admin) =>
      own.call(audit.timeline, { as: actor.as, params: { orgId: shop.orgId }, query })
    const year = { since: '2026-01-01T00:00:00Z', until: '2027-01-02T00:00:00Z' }
    expect((await ask(year)).body.spans).toHaveLength(limits.timelineDaysMax)
    const refused = await ask({ ...year, until: '2027-01-02T00:00:00.001Z' })
    expect(refused.error?.message).toBe('query.since: must be at most 366 days before the end of the timeline')
    expect((await ask({ since: '2026-02-30T00:00:00Z' })).error?.message).toBe(
      'query.since: is not a valid date and time',
    )
    expect((await ask({}, await newMember(own, shop))).status).toBe(403)
  })

  test('finds by an environment or an application what is about it or in it', async () => {
    const own = await signUp(world)
    const [shop, other] = [await newApp(world, own), await newApp(world, own)]
    const env = await newEnv(world, own, shop.id)
    const elsewhere = await newEnv(world, own, other.id)
    await putSecret(world, own, env.id, 'INSIDE')
    await putSecret(world, own, elsewhere.id, 'ELSEWHERE')
    const found = async (query: Record<string, unknown>) => {
      const { body } = await world.call(audit.list, { as: own.admin.as, params: { orgId: own.orgId }, query })
      return body.entries.map(({ action }) => action).sort()
    }
    const inEnvironment = await found({ environmentId: env.id })
    expect(inEnvironment).toContain('secret.written')
    expect(inEnvironment.filter((action) => action === 'secret.written')).toHaveLength(1)
    expect(inEnvironment).toContain('env.created')
    expect(inEnvironment).not.toContain('app.created')
    expect(await found({ applicationId: shop.id })).toEqual([...inEnvironment, 'app.created'].sort())
    expect(await found({ applicationId: shop.id, environmentId: elsewhere.id })).toEqual([])
    expect(await found({ applicationId: 'app_none' })).toEqual([])
    expect(await found({ environmentId: env.id, text: 'inside' })).toEqual(['secret.written'])
    const asker = await newMember(world, own)
    const asked = { environmentIds: [elsewhere.id] }
    await world.call(accessRequests.create, { as: asker.as, params: { orgId: own.orgId }, body: asked })
    expect(await found({ applicationId: other.id })).toContain('access_request.opened')
    expect(await found({ applicationId: shop.id })).not.toContain('access_request.opened')
  })

  test('counts all actions about one type of resource in one group', () => {
    const pairs = new Set(Object.values(auditActions).map(({ about, group }) => `${about} ${group}`))
    expect(pairs.size).toBe(new Set(Object.values(auditActions).map(({ about }) => about)).size)
  })
})

describe('an answer', () => {
  test('names the environment of a secret, with the current names of its application, group or parent', async () => {
    const app = await newApp(world, tenant)
    const group = await newGroup(world, tenant)
    const env = await newEnv(world, tenant, app.id)
    const shared = await newGroupEnv(world, tenant, group.id)
    const forked = await world.call(branches.create, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, envId: env.id },
      body: { slug: 'fix', wrappedDek: wrappedKey() },
    })
    const branch = forked.body.branch
    const places = [env, shared, branch]
    for (const [number, { id }] of places.entries()) await putSecret(world, tenant, id, `PLACED_${number}`)
    const params = { orgId: tenant.orgId, appId: app.id }
    await world.call(apps.update, { as: tenant.admin.as, params, body: { name: 'Renamed shop' } })
    const { entries, environments } = (await ask({ action: 'secret.written', limit: 3 })).body
    expect(entries.map(({ metadata }) => metadata.environmentId)).toEqual(places.map(({ id }) => id).reverse())
    const application = { type: 'application', name: 'Renamed shop', slug: app.slug }
    expect(environments).toEqual({
      [env.id]: { name: env.name, slug: env.slug, parent: null, owner: application },
      [shared.id]: {
        ...{ name: shared.name, slug: shared.slug, parent: null },
        owner: { type: 'group', name: group.name, slug: group.slug },
      },
      [branch.id]: {
        ...{ name: branch.name, slug: branch.slug, owner: application },
        parent: { name: env.name, slug: env.slug },
      },
    })
    expect((await ask({ action: 'app.created' })).body.environments).toEqual({})
    const made = (await ask({ action: 'env.created', resourceId: env.id })).body
    expect(Object.keys(made.environments)).toEqual([env.id])
  })
})
