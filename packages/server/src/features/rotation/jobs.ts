import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { Refusal } from '../../kernel/errors.ts'
import { deleteOrphanedPolicies } from './orphaned-policies.ts'
import { runRotation } from './run.ts'
import { listDue } from './store.ts'

/** How many runs of one organization work at a time. Targets that do not answer then leave the other runs free. */
const lanesOfOrganization = 2

/** Returns the lane of a policy. It is always the same, so that two runs of a policy never overlap. */
const laneOf = (rotationId: string): number => rotationId.charCodeAt(rotationId.length - 1) % lanesOfOrganization

/** Does nothing if the policy is no longer due. A failure is recorded with the policy, which is retried. */
export const runDue = job<{ orgId: string; rotationId: string }, Context>(
  'rotation.run',
  { concurrency: 8, perKey: ({ orgId, rotationId }) => `${orgId} ${laneOf(rotationId)}`, deadLetter: false },
  async (context, { orgId, rotationId }) => {
    try {
      await runRotation(context, { orgId, id: rotationId }, { origin: system, onlyDue: true })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
  },
)

export const jobs = [runDue, job('rotation.sweep', { schedule: everyMinutes(1) }, sweep)]

/** Queues a run for each policy that is due. Any server with a free worker takes it. */
export async function sweep(context: Context): Promise<void> {
  for (const due of await listDue(context.db, instant(context))) await context.queue.enqueue(context.db, runDue, due)
  context.queue.nudge(runDue)
  await transactWithAudit(context, system, (db) =>
    deleteOrphanedPolicies(context, db, system, null, { cause: 'env.deleted' }),
  )
}
