import type { Context } from '../../http/context.ts'
import { type Job, job } from '../../jobs/job.ts'
import { instant } from '../../kernel/context.ts'
import type { Next } from './outcome.ts'
import { insertOwnRun } from './own-run.ts'
import { perform } from './perform.ts'
import { listWaitingFor } from './run-store.ts'
import { findBinding } from './scope.ts'

/** A run that waits, or a binding whose last run failed and is to be tried again. */
type Data = { orgId: string } & ({ runId: string } | { bindingId: string })

/** Added with every run that is asked for. What fails here without an outcome, the sweep takes up again. */
export const performRun: Job<Data, Context> = job(
  'sync.run',
  { concurrency: 8, deadLetter: false },
  async (context: Context, data: Data) => {
    const { orgId } = data
    const runId = 'runId' in data ? data.runId : await beginRetry(context, orgId, data.bindingId)
    if (runId === null) return
    const next = await perform(context, orgId, runId)
    await goOn(context, orgId, runId, next)
    if (next !== 'again') await wakeWaiting(context, orgId, runId)
  },
)

/** Lets a run that waits for the same place begin now, and not when it looks again by itself. */
async function wakeWaiting({ db, queue }: Context, orgId: string, endedId: string): Promise<void> {
  const waiting = await listWaitingFor(db, orgId, endedId)
  for (const { id } of waiting) await queue.enqueue(db, performRun, { orgId, runId: id })
  if (waiting.length > 0) queue.nudge(performRun)
}

/** Puts into the queue what comes after a run, or takes its turn later. */
export async function goOn(context: Context, orgId: string, runId: string, next: Next): Promise<void> {
  if (next === 'again') await context.queue.enqueue(context.db, performRun, { orgId, runId }, { startAfterSeconds: 1 })
  else if (next !== null) {
    const { bindingId, retryAfterSeconds } = next
    const sending = { startAfterSeconds: retryAfterSeconds }
    await context.queue.enqueue(context.db, performRun, { orgId, bindingId }, sending)
  }
}

/** Only where its time has come: it may have succeeded, or failed once more, since this was asked for. */
const beginRetry = (context: Context, orgId: string, bindingId: string): Promise<string | null> =>
  context.db.transaction(async (tx) => {
    const binding = await findBinding(tx, { id: orgId }, bindingId)
    if (!binding?.enabled || binding.nextTryAt === null || binding.nextTryAt > instant(context)) return null
    return insertOwnRun(context, tx, binding, 'retry')
  })
