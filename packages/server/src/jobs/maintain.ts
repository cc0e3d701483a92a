import type { EmbeddedDatabase } from '../db/embedded.ts'
import { instant, type KernelContext } from '../kernel/context.ts'

const monthsAhead = 3

/**
 * Creates the next partitions of the audit log. For the embedded database, it also does the maintenance that a
 * PostgreSQL server does by itself.
 */
export async function maintain(context: KernelContext): Promise<void> {
  await makeAuditPartitions(context)
  if (context.db.engine === 'postgres') return
  const embedded = context.db as EmbeddedDatabase
  await embedded.checkpoint()
  await embedded.vacuum()
}

export async function makeAuditPartitions(context: Pick<KernelContext, 'db' | 'now'>): Promise<void> {
  for (let month = 0; month <= monthsAhead; month++)
    await context.db.rows(
      `select create_audit_partition((date_trunc('month', $1::timestamptz at time zone 'UTC')
                                      + make_interval(months => $2))::date)`,
      [instant(context), month],
    )
}
