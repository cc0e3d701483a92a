import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everySeconds } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { deleteEndedGrants } from '../../model/grants/write.ts'

export const jobs = [job('grants.end', { schedule: everySeconds(5) }, endGrants)]

/** Ends temporary grants. The holder may have kept the key, so the dashboard then lists the environment for a re-key. */
export function endGrants(context: Context): Promise<void> {
  return transactWithAudit(context, system, async (tx, record) => {
    for (const { orgId, id, ...metadata } of await deleteEndedGrants(tx, instant(context)))
      record({ orgId, action: 'key.expired', resourceId: id, metadata })
  })
}
