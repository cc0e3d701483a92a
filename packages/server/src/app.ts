import type { Subscriber } from './events/events.ts'
import { orderSections } from './features/archive.ts'
import type { AuditContext } from './features/audit/search.ts'
import type { Descriptor } from './features/descriptor.ts'
import type { ExportContext } from './features/export/context.ts'
import type { ResolveContext } from './features/resolve/cache.ts'
import type { SecretsContext } from './features/secrets/context.ts'
import { features } from './features.ts'
import type { RawRoute } from './http/raw.ts'
import type { Route } from './http/route.ts'
import { jobs as housekeeping } from './jobs/housekeeping.ts'
import type { Job } from './jobs/job.ts'

/**
 * Everything that the server works with. Made once in server.ts; tests make their own, with another clock. Each route and
 * each job names the part of it that it needs.
 */
export interface AppContext extends AuditContext, ExportContext, ResolveContext, SecretsContext {}

/** The compiler checks here that no feature needs more than this context. */
const descriptors: readonly Descriptor<AppContext>[] = features

/** Everything that this server answers. */
export const routes: Route<AppContext>[] = descriptors.flatMap((feature) => feature.routes ?? [])

/** And what it serves beside the API. */
export const rawRoutes: RawRoute[] = descriptors.flatMap((feature) => feature.rawRoutes ?? [])

/** Everyone here who is told of events. */
export const subscribers: Subscriber<AppContext>[] = descriptors.flatMap((feature) => feature.subscribers ?? [])

/** Everything that this server does later, or by itself. */
export const jobs: Job<never, AppContext>[] = [
  ...descriptors.flatMap((feature) => feature.jobs ?? []),
  ...housekeeping,
  ...subscribers.map(({ job }) => job),
]

/** The parts of the context that the features make together. */
export const composed: Pick<AppContext, 'archiveSections' | 'auditNames' | 'environmentsEnded'> = {
  archiveSections: orderSections(descriptors),
  auditNames: descriptors.flatMap((feature) => feature.auditNames ?? []),
  async environmentsEnded(...given) {
    for (const feature of descriptors) await feature.environmentsEnded?.(...given)
  },
}
