import { type AuditGroup, auditGroups } from '@skerry/contract/action'
import { auditActions } from '@skerry/contract/actions'
import type { audit } from '@skerry/contract/audit/endpoints'
import { limits } from '@skerry/contract/limits'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InOrg } from '../orgs/scope.ts'
import { filterOf } from './audit.ts'
import { type AuditContext, search } from './search.ts'
import { beforeAll, type Count, countEntries } from './store.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export async function timeline(input: In<typeof audit.timeline, InOrg, AuditContext>): Out<typeof audit.timeline> {
  const { context, db, org, query, now } = input
  const given = await filterOf(context, db, org, query)
  const until = given.until === undefined ? endOf(now) : Date.parse(given.until)
  const since = given.since === undefined ? beginningOf(until) : Date.parse(given.since)
  if (until - since > limits.timelineDaysMax * dayMs)
    throw fail(
      'invalid_request',
      `query.since: must be at most ${limits.timelineDaysMax} days before the end of the timeline`,
    )
  const isShort = until - since <= limits.timelineHoursMax * hourMs
  const [step, stepMs] = isShort ? (['hour', hourMs] as const) : (['day', dayMs] as const)
  const filter = { ...given, since: instant(since), until: instant(until) }
  const all: Count[] = []
  const { timelineMs, pieceEntries } = context.auditSearch
  const stopped = await search({
    after: beforeAll,
    size: pieceEntries,
    limitMs: timelineMs,
    read: (after, size) => countEntries(db, org, { filter, after, size }, step),
    take: (counts) => {
      all.push(...counts)
      return false
    },
  })
  const counted = Map.groupBy(all, ({ at }) => at)
  const spans = []
  for (let at = floor(since, stepMs); at < until; at += stepMs) {
    const counts = countsOf(counted.get(instant(at)) ?? [])
    spans.push({ since: instant(Math.max(at, since)), until: instant(Math.min(at + stepMs, until)), counts })
  }
  return { step, spans, countedUntil: stopped?.at ?? null }
}

const floor = (ms: number, stepMs: number) => Math.floor(ms / stepMs) * stepMs
const instant = (ms: number) => new Date(ms).toISOString()

/** The end of the current hour, so that the last span covers a whole hour. */
const endOf = (now: string) => floor(Date.parse(now), hourMs) + hourMs

/** The beginning of the default range of whole days, which ends with the day before this instant. */
const beginningOf = (until: number) => floor(until - 1, dayMs) - (limits.timelineDaysDefault - 1) * dayMs

const groupOf: ReadonlyMap<string, AuditGroup> = new Map(
  Object.values(auditActions).map(({ about, group }) => [about, group]),
)

function countsOf(rows: readonly { resourceType: string; entries: number }[]): Record<AuditGroup, number> {
  const counts = Object.fromEntries(auditGroups.map((group) => [group, 0])) as Record<AuditGroup, number>
  // A restored audit log may have types that a newer version wrote.
  for (const { resourceType, entries } of rows) counts[groupOf.get(resourceType) ?? 'organization'] += entries
  return counts
}
