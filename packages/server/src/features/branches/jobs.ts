import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { deleteExpiredBranches } from '../../model/environments/write.ts'

export const jobs = [job('branches.expire', { schedule: everyMinutes(1) }, expireBranches)]

/** Deletes expired branches with their overrides, key grants and bound tokens. Routes hide them before that. */
export async function expireBranches(context: Context): Promise<number> {
  let expired = 0
  for (;;) {
    const count = await expireSome(context)
    expired += count
    if (count < atOnce) return expired
  }
}

/** Few enough to keep the transaction short. */
const atOnce = 100

const expireSome = (context: Context) =>
  transactWithAudit(context, system, async (tx, record) => {
    const gone = await deleteExpiredBranches(tx, instant(context), atOnce)
    for (const { orgId, id, slug, parentEnvironmentId, expiresAt } of gone)
      record({ orgId, action: 'branch.expired', resourceId: id, metadata: { slug, parentEnvironmentId, expiresAt } })
    for (const orgId of new Set(gone.map((branch) => branch.orgId)))
      await context.environmentsEnded(context, tx, system, orgId, { cause: 'branch.expired' })
    return gone.length
  })
