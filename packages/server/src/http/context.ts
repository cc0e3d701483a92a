import type { Metric, MonthlyMetric } from '@skerry/contract/billing/plans'
import type { Events } from '../events/events.ts'
import type { IdentityContext } from '../identity/context.ts'
import type { Mailer } from '../jobs/mail.ts'
import type { Meter } from '../jobs/meter.ts'
import type { Queue } from '../jobs/queue.ts'
import type { ExportKey } from '../keys/export-key.ts'
import type { Keypairs } from '../keys/keypairs.ts'
import type { EnvironmentsEnded } from '../model/environments/hooks.ts'
import type { Adapters } from '../outbound/adapters.ts'
import type { GuardedOutbound } from '../outbound/outbound.ts'
import type { FullDisk } from './full-disk.ts'
import type { HeavyReads } from './heavy-reads.ts'

/**
 * The context of a feature: everything that the folders below the features create. A feature with its own parts extends
 * this type, and its routes and jobs declare that.
 */
export interface Context extends IdentityContext {
  /** The server's own key pairs. Clients wrap to them the environment keys and credentials that the server must use. */
  keypairs: Keypairs
  exportKey: ExportKey
  outbound: GuardedOutbound
  adapters: Adapters
  queue: Queue
  mailer: Mailer
  meter: Meter
  events: Events
  heavyReads: HeavyReads
  fullDisk: FullDisk
  /** The queries that count metrics, from the descriptors of features. */
  usageQueries: UsageQueries
  /** Calls each feature that stores data about environments. */
  environmentsEnded: EnvironmentsEnded
}

/** The query that counts each metric: for organization $1 at the instant $2. `meter` counts monthly metrics. */
export type UsageQueries = Readonly<Record<Exclude<Metric, MonthlyMetric>, string>>
