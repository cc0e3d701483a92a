import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { recordLosses } from './store.ts'

export const jobs = [job('agents.record_losses', { schedule: everyMinutes(1) }, recordDisabled)]

/** Few enough to keep the transaction short. */
const atOnce = 100

/** An agent is disabled at the moment its environment is deleted. This records it in the audit log, with the cause. */
export async function recordDisabled(context: Context): Promise<void> {
  for (;;) {
    const count = await transactWithAudit(context, system, async (tx, record) => {
      const lost = await recordLosses(tx, atOnce)
      for (const { orgId, id, lostEnvironmentId } of lost)
        record({
          orgId,
          action: 'agent.updated',
          resourceId: id,
          metadata: { enabled: false, cause: 'its environment was deleted', environmentId: lostEnvironmentId },
        })
      return lost.length
    })
    if (count < atOnce) return
  }
}
