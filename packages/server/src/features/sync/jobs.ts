import { limits } from '@skerry/contract/limits'
import { job } from '../../jobs/job.ts'
import { type Context, instant } from '../../kernel/context.ts'
import { listDue } from './change-store.ts'
import { lookAtChanges } from './changes.ts'
import { forgetUnusedKeypairs } from './connection-store.ts'
import { endCutOff } from './finish.ts'
import { goOn, performRun } from './run-job.ts'
import { deleteOldRuns, freeAllPlaces, listCutOff, listWaiting } from './run-store.ts'

export const jobs = [
  performRun,
  job('sync.sweep', { cron: '* * * * *' }, sweep),
  job('sync.forget', { cron: '17 * * * *' }, forget),
]

/** Finds what a server that is gone has left: runs, waiting or half done, changes that nobody looked at, and tries that are due. */
export async function sweep(context: Context): Promise<void> {
  const { db, queue } = context
  await lookAtChanges(context)
  for (const { orgId, id } of await listCutOff(db)) await goOn(context, orgId, id, await endCutOff(context, orgId, id))
  for (const { orgId, id } of await listWaiting(db)) await queue.enqueue(db, performRun, { orgId, runId: id })
  for (const { orgId, id } of await listDue(db, instant(context)))
    await queue.enqueue(db, performRun, { orgId, bindingId: id })
  queue.nudge(performRun)
}

/** An embedded database had one server, and that is gone. */
export async function atStart(context: Context): Promise<void> {
  if (context.db.engine === 'embedded') await freeAllPlaces(context.db)
  await sweep(context)
}

const runsKeptDays = 90

export async function forget({ db, now }: Context): Promise<void> {
  const before = (seconds: number) => new Date(now().getTime() - seconds * 1000).toISOString()
  await forgetUnusedKeypairs(db, before(limits.syncUnusedKeySeconds))
  await deleteOldRuns(db, before(runsKeptDays * 86_400))
}
