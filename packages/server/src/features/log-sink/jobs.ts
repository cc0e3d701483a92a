import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { deliver, type Outcome } from './deliver.ts'
import type { Batch } from './otlp.ts'
import {
  disableSink,
  findCheckpoint,
  findSink,
  listDueSinks,
  listNext,
  recordAccepted,
  recordFailed,
  type Sink,
} from './store.ts'

const batchEntries = 500
const firstPauseSeconds = 15
const pauseMaxSeconds = 600

/** Runs one at a time for each organization, on any server, so that its entries arrive in order. */
const ship = job<{ orgId: string }, Context>(
  'log_sink.ship',
  { concurrency: 4, perKey: ({ orgId }) => orgId, deadLetter: false },
  (context, { orgId }) => shipAll(context, orgId),
)

export const jobs = [ship, job('log_sink.sweep', { schedule: everyMinutes(1) }, sweep)]

export async function sweep(context: Context): Promise<void> {
  for (const { orgId } of await listDueSinks(context.db, instant(context))) {
    await context.queue.enqueue(context.db, ship, { orgId })
    context.queue.nudge(ship)
  }
}

/** Sends all waiting entries. An unaccepted batch is sent again: no entry is lost, and some may arrive twice. */
export async function shipAll(context: Context, orgId: string): Promise<void> {
  for (;;) {
    const sink = await findSink(context.db, { id: orgId })
    if (!sink?.enabled) return
    const signed = await findCheckpoint(context.db, sink)
    // The checkpoint is sent with the last entries that it covers: all of them arrive, or all are sent again.
    const take = signed ? Math.min(batchEntries, signed.size - sink.position) : batchEntries
    const { entries, next, isLast } = await listNext(context.db, sink, take)
    if (next === sink.position) return
    const checkpoint = signed?.size === next ? signed : null
    const goesOn = await record(context, sink, next, await deliverAny(context, sink, { entries, checkpoint }))
    if (!goesOn || isLast) return
  }
}

const nothingToSend: Outcome = { kind: 'accepted', status: 200, rejected: 0 }

const deliverAny = async (context: Context, sink: Sink, batch: Batch): Promise<Outcome> =>
  batch.entries.length === 0 && batch.checkpoint === null ? nothingToSend : deliver(context, sink, batch)

async function record(context: Context, sink: Sink, next: number, outcome: Outcome): Promise<boolean> {
  const now = instant(context)
  if (outcome.kind === 'refused') await disable(context, sink, outcome.error)
  if (outcome.kind === 'again') {
    const pause = Math.min(pauseMaxSeconds, firstPauseSeconds * 2 ** Math.min(sink.tries, 10))
    const dueAt = new Date(Date.parse(now) + (outcome.afterSeconds ?? pause) * 1000).toISOString()
    await recordFailed(context.db, sink, { lastError: outcome.error, dueAt, now })
  }
  if (outcome.kind !== 'accepted') return false
  const { rejected } = outcome
  const lastError = rejected === 0 ? null : `took no record of ${rejected} entries`
  return (await recordAccepted(context.db, sink, { next, rejected, lastError, now })) !== undefined
}

/** Disables the sink, because the collector would refuse a retry too. An admin has to fix it. Unsent entries wait. */
async function disable(context: Context, sink: Sink, error: string): Promise<void> {
  const { orgId } = sink
  await transactWithAudit(context, system, async (db, recordEntry) => {
    if (!(await disableSink(db, sink, error, instant(context)))) return
    const endpoint = new URL(sink.endpoint).host
    recordEntry({ orgId, action: 'log_sink.disabled', resourceId: orgId, metadata: { endpoint, error } })
    await context.events.emit(db, 'log_sink.disabled', orgId, { endpoint, error })
  })
}
