import { limits } from '@skerry/contract/limits'
import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes, hourlyAt } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'
import { forgetUnusedKeypairs } from '../../keys/keypairs-store.ts'
import { listDue } from './change-store.ts'
import { processChanges } from './changes.ts'
import { endCutOff } from './outcome.ts'
import { performRun, scheduleNext } from './run-job.ts'
import { deleteOldRuns, freeAllPlaces, heldSeconds, listCutOff, listWaiting } from './run-store.ts'

const sweepJob = job('sync.sweep', { schedule: everyMinutes(1) }, sweep)

export const jobs = [performRun, sweepJob, job('sync.forget', { schedule: hourlyAt(17) }, forget)]

/** Finds the work that a stopped server left: waiting or interrupted runs, unprocessed changes, and due retries. */
export async function sweep(context: Context): Promise<void> {
  const { db, queue } = context
  await processChanges(context)
  for (const { orgId, id } of await listCutOff(db))
    await scheduleNext(context, orgId, id, await endCutOff(context, orgId, id))
  for (const { orgId, id } of await listWaiting(db)) await queue.enqueue(db, performRun, { orgId, runId: id })
  for (const { orgId, id } of await listDue(db, instant(context)))
    await queue.enqueue(db, performRun, { orgId, bindingId: id })
  queue.nudge(performRun)
}

/**
 * Cleans up at start. An embedded database had only one server, which has stopped, so all its places are free. With
 * PostgreSQL another server may be at work. An interrupted run shows once its places are no longer renewed, so a sweep
 * is queued for that moment.
 */
export async function atStart(context: Context): Promise<void> {
  const { db, queue } = context
  if (db.engine === 'embedded') await freeAllPlaces(db)
  else await queue.enqueue(db, sweepJob, {}, { startAfterSeconds: heldSeconds + 1 })
  await sweep(context)
}

const runsKeptDays = 90

export async function forget({ db, now }: Context): Promise<void> {
  const before = (seconds: number) => new Date(now().getTime() - seconds * 1000).toISOString()
  await forgetUnusedKeypairs(db, before(limits.syncUnusedKeySeconds))
  await deleteOldRuns(db, before(runsKeptDays * 86_400))
}
