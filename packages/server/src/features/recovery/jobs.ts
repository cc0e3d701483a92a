import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { expireRequests } from './request-store.ts'

export const jobs = [job('recovery.expire', { schedule: everyMinutes(1) }, expire)]

/** Closes expired requests. Every route shows them as expired even before this job runs. */
export function expire(context: Context): Promise<void> {
  return transactWithAudit(context, system, async (tx, record) => {
    for (const { orgId, id, contributed } of await expireRequests(tx, instant(context)))
      record({ orgId, action: 'recovery_request.expired', resourceId: id, metadata: { contributed } })
  })
}
