import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everySeconds } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { deleteEndedGrants } from '../../model/grants/write.ts'

export const jobs = [job('grants.end', { schedule: everySeconds(5) }, endGrants)]

/** Few enough to keep the transaction short. */
const atOnce = 100

/**
 * Deletes temporary grants whose time is over. Nobody reads by them since then. The holder may have kept the key, so the
 * dashboard then lists the environment for a re-key.
 */
export async function endGrants(context: Context): Promise<void> {
  while ((await endSome(context)) === atOnce);
}

const endSome = (context: Context) =>
  transactWithAudit(context, system, async (tx, record) => {
    const { count, grants } = await deleteEndedGrants(tx, instant(context), atOnce)
    for (const { orgId, id, ...metadata } of grants) record({ orgId, action: 'key.expired', resourceId: id, metadata })
    return count
  })
