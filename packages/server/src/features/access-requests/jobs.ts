import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { closeEnded } from './store.ts'

export const jobs = [job('access_requests.close', { schedule: everyMinutes(1) }, closeRequests)]

/**
 * Closes requests that are over: expired ones, those whose keys were given in another way than by a grant, such as a
 * recovery, and those whose environments were deleted. Every route shows expired ones as expired even before this runs.
 */
export function closeRequests(context: Context): Promise<void> {
  return transactWithAudit(context, system, async (tx, record) => {
    for (const { orgId, id, status, userId } of await closeEnded(tx, instant(context)))
      record({ orgId, action: `access_request.${status}`, resourceId: id, metadata: { userId } })
  })
}
