import type { Metric, MonthlyMetric } from '@skerry/contract/billing/plans'
import type { Tx } from '../db/database.ts'
import type { Events } from '../events/events.ts'
import type { IdentityContext } from '../identity/context.ts'
import type { Mailer } from '../jobs/mail.ts'
import type { Meter } from '../jobs/meter.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Metadata } from '../kernel/audit.ts'
import type { SignedDocuments, Trees } from '../keys/directory.ts'
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
  /** Hash trees over the entries of signed directories. */
  trees: Trees
  /** Stores what the body of a change signs for the directory. */
  signDirectory: SignDirectory
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

interface DirectoryWork {
  db: Tx
  audit: (
    action: 'directory.started' | 'directory.root_changed' | 'directory.signed',
    resourceId: string,
    metadata?: Metadata,
  ) => void
}

interface Signing {
  orgId: string
  signed: SignedDocuments
  /** Where the documents are in the request: begins every refusal. */
  place: string
  /** True if they may be the first documents of the organization. */
  starts?: boolean
}

/** Checks documents and stores them in the transaction of a change, or refuses -> the new head. */
export type SignDirectory = (
  context: Pick<Context, 'trees' | 'now'>,
  work: DirectoryWork,
  signing: Signing,
) => Promise<{ version: number; hash: string }>

/** The query that counts each metric: for organization $1 at the instant $2. `meter` counts monthly metrics. */
export type UsageQueries = Readonly<Record<Exclude<Metric, MonthlyMetric>, string>>
