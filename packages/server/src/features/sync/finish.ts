import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { unit } from '../../kernel/unit.ts'
import { recordReach } from './connection-store.ts'
import { listUnderWay } from './ledger-store.ts'
import { type Next, nothingDone, type Outcome } from './outcome.ts'
import { finishRun, freePlaces, lockOpenRun, type Noted, type OpenRun, recordOutcome, recordTold } from './run-store.ts'
import { type Binding, type Connection, findBinding, findConnection } from './scope.ts'

const firstPauseSeconds = 10
const pauseMaxSeconds = 3600
/** Admins hear of what may be over by itself once it has failed so often in a row. */
const failuresToTell = 3

interface Ran {
  run: OpenRun
  binding?: Binding
  connection?: Connection
}

/** Writes down how a run ended, with its entry in the trail, and frees its places: all of it, or nothing. */
export async function finish(context: Context, ran: Ran, outcome: Outcome, always = false): Promise<Next> {
  const { run, binding, connection } = ran
  const { orgId } = run
  const failed = outcome.error !== null || outcome.failures.length > 0
  const retryAfterSeconds = binding && failed ? retryOf(context, binding, outcome, always) : null
  const nextTryAt =
    retryAfterSeconds === null ? null : new Date(context.now().getTime() + retryAfterSeconds * 1000).toISOString()
  const { actor, ...origin } = run.origin
  const told = await unit(context, { principal: null, ...origin }, async (db, record) => {
    const status = statusOf(outcome)
    const { failures, skipped, unchanged, error } = outcome
    const ended = await finishRun(db, run, { status, failures, skipped, unchanged, error, now: instant(context) })
    await freePlaces(db, orgId, run.id)
    if (!ended) return []
    const lastError = error ?? failures[0]?.reason ?? null
    // It locks the connection, so that of two bindings only one tells of its credential.
    if (connection && outcome.reached !== null)
      await recordReach(db, connection, outcome.reached ? null : (error ?? 'it did not answer'))
    const noted =
      binding &&
      (await recordOutcome(db, orgId, binding, { takenDigest: outcome.digest, failed, lastError, nextTryAt }))
    record({
      orgId,
      action: status === 'succeeded' ? 'sync.run_succeeded' : 'sync.run_failed',
      resourceId: run.id,
      metadata: {
        bindingId: run.bindingId,
        connectionId: run.connectionId,
        environmentId: run.environmentId,
        trigger: run.trigger,
        status,
        pushed: ended.pushed.length,
        deleted: ended.deleted.length,
        failures: failures.length,
        skipped: skipped.length,
      },
      actor,
    })
    if (!noted || !connection) return []
    const { told, mails } = tellingOf(outcome, failed, noted)
    if (told !== noted.told) await recordTold(db, orgId, run.bindingId, told)
    if (!mails || told === null) return []
    const facts = { connectionId: connection.id, connection: connection.name, bindingId: run.bindingId, cause: told }
    return context.events.emit(db, 'sync.failed', orgId, facts)
  })
  for (const job of told) context.queue.nudge(job)
  return retryAfterSeconds === null ? null : { bindingId: run.bindingId, retryAfterSeconds }
}

/** Names that could not go make a run partial, and names that were left alone on purpose change nothing. */
function statusOf({ error, failures, done }: Outcome) {
  if (error === null) return failures.length === 0 ? 'succeeded' : 'partial'
  return done > 0 ? 'partial' : 'failed'
}

/**
 * Whether admins are mailed, and what is remembered of it. They are when a person is needed: at once for a refused credential
 * and for what no other try mends, and else after several failures in a row. Once is enough until a run succeeds, except that
 * a refused credential is always told of.
 */
function tellingOf(
  { denied, retry }: Outcome,
  failed: boolean,
  { failureStreak, told, toldElsewhere }: Noted,
): { told: Noted['told']; mails: boolean } {
  if (!failed) return { told: null, mails: false }
  if (denied) return { told: 'credential', mails: told !== 'credential' && !toldElsewhere }
  const needsPerson = retry === null || failureStreak >= failuresToTell
  return needsPerson && told === null ? { told: 'failure', mails: true } : { told, mails: false }
}

/** Twice as long each time, with jitter, and never before the provider wants it. What nobody pushes by itself waits for them. */
function retryOf(context: Context, { mode, enabled, failureStreak }: Binding, { retry }: Outcome, always: boolean) {
  if (retry === null || !enabled || (mode !== 'auto' && !always)) return null
  // What a server cut off was no fault of the destination.
  const firstSeconds = always ? 1 : firstPauseSeconds
  const backoff = Math.min(pauseMaxSeconds, firstSeconds * 2 ** Math.min(failureStreak, 10))
  const jitter = 1 + (context.now().getTime() % 100) / 500
  return Math.ceil(Math.max(backoff * jitter, retry.afterMs / 1000))
}

/**
 * Ends a run whose server is gone: what it had confirmed stays in its history, what it was sending is named as unknown, and
 * another try of the binding follows, also where a person had asked for the run.
 */
export async function endCutOff(context: Context, orgId: string, runId: string): Promise<Next> {
  const { db } = context
  const run = await db.transaction((tx) => lockOpenRun(tx, orgId, runId))
  if (!run) return null
  const binding = await findBinding(db, { id: orgId }, run.bindingId)
  const connection = await findConnection(db, { id: orgId }, run.connectionId)
  const underWay = await listUnderWay(db, orgId, run.bindingId, runId)
  const reason = 'It was being sent when the server stopped: it may have been written.'
  return finish(
    context,
    { run, ...(binding && { binding }), ...(connection && { connection }) },
    {
      ...nothingDone(),
      failures: underWay.map((name) => ({ name, reason })),
      done: run.pushed.length + run.deleted.length,
      error: 'The server stopped during this run.',
      retry: { afterMs: 0 },
    },
    true,
  )
}
