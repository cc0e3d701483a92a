import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { afterEach, describe, expect, test } from 'vitest'
import { engine } from '../../../test/engine.ts'
import { seedAudit } from '../../../test/heavy-scene.ts'
import { openTenant } from '../../../test/scene.ts'
import { newApp } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { searchLimits } from './search.ts'

// Searches that take longer than one request may.

const { world, tenant } = await openTenant()
const { context } = world.server
const found = await newApp(world, tenant, 'harbour')
for (let n = 0; n < 40; n++) await newApp(world, tenant)
const as = tenant.admin.as
const params = { orgId: tenant.orgId }
await world.call(apps.update, { as, params: { ...params, appId: found.id }, body: { name: 'Harbour Master' } })
for (let n = 0; n < 40; n++) await newApp(world, tenant)

const ask = async (query: Record<string, unknown>) => (await world.call(audit.list, { as, params, query })).body
const count = async (query: Record<string, unknown> = {}) =>
  (await world.call(audit.timeline, { as, params, query })).body

/** Ends each search after its first piece. */
const stopAtOnce = () => {
  context.auditSearch = { listMs: 0, timelineMs: 0, pieceEntries: 10 }
}
afterEach(() => {
  context.auditSearch = searchLimits()
})

async function readPages(query: Record<string, unknown>) {
  const pages = [await ask(query)]
  for (let cursor = pages[0]?.nextCursor; cursor; cursor = pages.at(-1)?.nextCursor)
    pages.push(await ask({ ...query, cursor }))
  return pages
}

describe('a search that is stopped', () => {
  test.each([{ text: 'harbour' }, { action: 'app.updated' }, { resourceType: 'application', text: 'harbour' }])(
    'reports how far it came, and the next pages find all that one request would find: %j',
    async (query) => {
      const whole = await ask({ ...query, limit: 200 })
      expect(whole.entries.length).toBeGreaterThan(0)
      expect([whole.nextCursor, whole.searchedUntil]).toEqual([null, null])
      stopAtOnce()
      const pages = await readPages(query)
      expect(pages.flatMap(({ entries }) => entries)).toEqual(whole.entries)
      const stops = pages.slice(0, -1).map(({ searchedUntil }) => searchedUntil as string)
      expect(stops.length).toBeGreaterThan(5)
      expect(stops).not.toContain(null)
      expect(stops).toEqual(stops.toSorted().reverse())
      for (const { entries, searchedUntil } of pages)
        for (const { createdAt } of entries) expect(createdAt >= (searchedUntil ?? '')).toBe(true)
      expect(pages.at(-1)?.searchedUntil).toBeNull()
    },
  )

  test('reports no position if the page is full', async () => {
    const { entries, nextCursor, searchedUntil } = await ask({ action: 'app.created', limit: 5 })
    expect([entries.length, searchedUntil]).toEqual([5, null])
    expect(nextCursor).not.toBeNull()
  })

  test('reads only one piece if it is for one id or none, however short the time limit is', async () => {
    stopAtOnce()
    for (const query of [{ resourceId: found.id }, { actorId: tenant.admin.id }, {}]) {
      const { entries, searchedUntil } = await ask({ ...query, limit: 2 })
      expect([entries.length, searchedUntil]).toEqual([2, null])
    }
  })
})

describe('a timeline that is stopped', () => {
  test('reports from which instant it has counted, and counts every entry since then', async () => {
    const whole = await count()
    expect(whole.countedUntil).toBeNull()
    stopAtOnce()
    const { spans, countedUntil } = await count()
    const sum = spans.flatMap(({ counts }) => Object.values(counts)).reduce((all, one) => all + one, 0)
    context.auditSearch = searchLimits()
    const { entries } = await ask({ since: countedUntil, limit: 200 })
    expect(sum).toBe(10)
    expect(entries).toHaveLength(10)
  })
})

describe.runIf(engine() === 'postgres')('in a large log', () => {
  test.each([
    ['actorId', 'skt_seeded3', 'actor_id'],
    ['resourceId', 'sec_seeded77', 'resource_id'],
    ['requestId', 'req_seeded1234', 'request_id'],
  ])('a search by %s uses an index', async (field, value, column) => {
    const { db } = context
    if ((await ask({ requestId: 'req_seeded1' })).entries.length === 0) {
      await seedAudit(world, tenant.orgId, 20_000)
      await db.script('analyze audit_entries')
    }
    const scans = async () =>
      (
        await db.row<{ scans: number }>(
          `select sum(idx_scan)::int as scans from pg_stat_user_indexes where indexrelname like 'audit_entries_%${column}%'`,
        )
      )?.scans ?? 0
    const before = await scans()
    const look = async () => expect((await ask({ [field]: value, limit: 5 })).entries.length).toBeGreaterThan(0)
    // More often than PostgreSQL plans a statement again, on each of the connections.
    const asked = 30
    for (let n = 0; n < asked; n++) await look()
    await until('PostgreSQL has counted them', async () => {
      // PostgreSQL adds up its counts when a session is used again.
      await look()
      return (await scans()) >= before + asked
    })
  })
})
