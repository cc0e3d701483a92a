import type { Subscriber } from '../events/events.ts'
import type { Notices } from '../events/notices.ts'
import type { Context, UsageQueries } from '../http/context.ts'
import type { RawRoute } from '../http/raw.ts'
import type { Route } from '../http/route.ts'
import type { Job } from '../jobs/job.ts'
import type { EnvironmentsEnded } from '../model/environments/hooks.ts'
import type { ArchivePart } from './archive.ts'

/**
 * Everything that a feature brings to the server. The file `feature.ts` of each feature exports one, `server/src/features.ts` lists
 * them, and app.ts composes them. `C` is the context that the feature works with.
 */
export interface Descriptor<C extends Context = Context> {
  /** Endpoints of the API, each with its access. */
  routes?: readonly Route<C>[]
  /** Paths outside of the API: pages, files, redirects. */
  rawRoutes?: readonly RawRoute[]
  /** Work that is done later or on a schedule. */
  jobs?: readonly Job<never, C>[]
  /** Handlers of events. */
  subscribers?: readonly Subscriber<C>[]
  /** The tables that the archive of an organization holds, and those that it does not hold. */
  archive: ArchivePart
  /** A query `select id, name` about organization $1. The audit log shows these names beside ids, and finds entries by them. */
  auditNames?: string
  /** The mail about each event of the feature that anyone is mailed about, with who gets it. */
  notices?: Notices
  /** Queries that count the metrics of the feature, for organization $1 at the instant $2. The server counts metrics per month itself. */
  usage?: Partial<UsageQueries>
  /** Deletes what the feature keeps about environments that were deleted. */
  environmentsEnded?: EnvironmentsEnded
}
