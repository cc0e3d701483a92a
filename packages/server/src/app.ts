import { metrics } from '@skerry/contract/billing/plans'
import type { Subscriber } from './events/events.ts'
import { orderSections } from './features/archive.ts'
import type { AuditContext } from './features/audit/search.ts'
import type { Descriptor } from './features/descriptor.ts'
import type { ExportContext } from './features/export/context.ts'
import type { LiveContext } from './features/live/context.ts'
import { mailNotices } from './features/notifications/deliver.ts'
import type { ResolveContext } from './features/resolve/cache.ts'
import type { SecretsContext } from './features/secrets/context.ts'
import { features } from './features.ts'
import type { UsageQueries } from './http/context.ts'
import type { RawRoute } from './http/raw.ts'
import type { Route } from './http/route.ts'
import { jobs as housekeeping } from './jobs/housekeeping.ts'
import type { Job } from './jobs/job.ts'

/**
 * The complete context of the server. server.ts creates it once. Each route and each job names the part that it needs.
 */
export interface AppContext extends AuditContext, ExportContext, LiveContext, ResolveContext, SecretsContext {}

/** The compiler checks here that no feature needs more than this context. */
const descriptors: readonly Descriptor<AppContext>[] = features

/** The endpoints of the API. */
export const routes: Route<AppContext>[] = descriptors.flatMap((feature) => feature.routes ?? [])

/** The paths outside the API. */
export const rawRoutes: RawRoute[] = descriptors.flatMap((feature) => feature.rawRoutes ?? [])

/** The handlers of events. */
export const subscribers: Subscriber<AppContext>[] = [
  mailNotices(mergeTables(descriptors.map((feature) => feature.notices ?? {}))),
  ...descriptors.flatMap((feature) => feature.subscribers ?? []),
]

/** The jobs that this server runs later or on a schedule. */
export const jobs: Job<never, AppContext>[] = [
  ...descriptors.flatMap((feature) => feature.jobs ?? []),
  ...housekeeping,
  ...subscribers.map(({ job }) => job),
]

type Composed = 'archiveSections' | 'auditNames' | 'usageQueries' | 'environmentsEnded'

/** The parts of the context that come from the descriptors. */
export const composed: Pick<AppContext, Composed> = {
  archiveSections: orderSections(descriptors),
  auditNames: descriptors.flatMap((feature) => feature.auditNames ?? []),
  usageQueries: usageQueriesOf(descriptors.map((feature) => feature.usage ?? {})),
  async environmentsEnded(...given) {
    for (const feature of descriptors) await feature.environmentsEnded?.(...given)
  },
}

/** Merges the tables of features into one. A row in two of them is an error, because one would hide the other. */
function mergeTables<T extends object>(tables: readonly T[]): T {
  const rows = tables.flatMap((table) => Object.entries(table))
  const names = rows.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new Error(`two features have a row ${twice}`)
  return Object.fromEntries(rows) as T
}

/** Merges the usage queries. Every metric needs one, except those that the server counts per month. */
function usageQueriesOf(tables: readonly Partial<UsageQueries>[]): UsageQueries {
  const queries = mergeTables(tables)
  for (const [metric, { per }] of Object.entries(metrics))
    if (per !== 'month' && !Object.hasOwn(queries, metric)) throw new Error(`no feature counts ${metric}`)
  return queries as UsageQueries
}
