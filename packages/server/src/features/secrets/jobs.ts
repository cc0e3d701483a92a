import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { purgeExpired } from '../../model/secrets/deleted.ts'

export const jobs = [job('secrets.purge', { schedule: everyMinutes(5) }, purgeDeleted)]

/** Few enough to keep the transaction short. */
const atOnce = 100

/** Purges deleted secrets whose time is over. Routes hide them before that. */
export async function purgeDeleted(context: Context): Promise<number> {
  let purged = 0
  for (;;) {
    const count = await purgeSome(context)
    purged += count
    if (count < atOnce) return purged
  }
}

const purgeSome = (context: Context) =>
  transactWithAudit(context, system, async (tx, record) => {
    const gone = await purgeExpired(tx, instant(context), atOnce)
    for (const { orgId, id, environmentId, name, version } of gone)
      record({ orgId, action: 'secret.purged', resourceId: id, metadata: { environmentId, name, version } })
    return gone.length
  })
