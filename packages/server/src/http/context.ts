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
 * What a feature works with: everything that the folders below the features make. A feature with parts of
 * its own extends this type, and its routes and jobs say so.
 */
export interface Context extends IdentityContext {
  /** The server's own keys, to which clients wrap what it must use. */
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
  /** How metrics are counted, from the descriptors of features. */
  usageQueries: UsageQueries
  /** Calls each feature that keeps something about environments. */
  environmentsEnded: EnvironmentsEnded
}

/** How each metric is counted: a query about organization $1 at the instant $2. `meter` counts monthly metrics. */
export type UsageQueries = Readonly<Record<Exclude<Metric, MonthlyMetric>, string>>
