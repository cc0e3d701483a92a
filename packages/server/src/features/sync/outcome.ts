import type { Context } from '../../http/context.ts'
import { transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { recordReach } from './connection-store.ts'
import { listUnderWay } from './ledger-store.ts'
import type { Refused } from './plan.ts'
import {
  finishRun,
  freePlaces,
  lockOpenRun,
  type Noted,
  type OpenRun,
  recordOutcome,
  recordPause,
  recordTold,
} from './run-store.ts'
import { type Binding, type Connection, findBinding, findConnection } from './scope.ts'

/** The next step: the same run once its places are free, or another try of the binding after a pause. */
export type Next = 'again' | { bindingId: string; retryAfterSeconds: number } | null

/** The outcome of a run, without the names that it wrote and removed: these are recorded while it pushes. */
export interface Outcome {
  failures: Refused[]
  /** Names that somebody else wrote. The run did not touch them. */
  skipped: Refused[]
  unchanged: number
  /** How many names it wrote or removed. */
  done: number
  /** The error that ended the run early. */
  error: string | null
  /** Whether the destination answered; null if it was not asked. */
  reached: boolean | null
  /** Whether the destination refused the credential. */
  denied: boolean
  /** Set if a retry may help, with the pause that the provider asks for. */
  retry: { afterMs: number } | null
  /** The digest of the values that the run was to push; null if it failed before it computed that. */
  digest: string | null
}

export const nothingDone = (): Outcome => ({
  failures: [],
  skipped: [],
  unchanged: 0,
  done: 0,
  error: null,
  reached: null,
  denied: false,
  retry: null,
  digest: null,
})

const firstPauseSeconds = 10
const pauseMaxSeconds = 3600
/** After this many failures in a row, admins are mailed even about a failure that a retry may fix. */
const failuresToTell = 3

interface Ran {
  run: OpenRun
  binding?: Binding
  connection?: Connection
}

/** Records how a run ended, with its entry in the audit log, and frees its places, in one transaction. */
export async function finish(context: Context, ran: Ran, outcome: Outcome, always = false): Promise<Next> {
  const { run, binding, connection } = ran
  const { orgId } = run
  const failed = outcome.error !== null || outcome.failures.length > 0
  const retryAfterSeconds = binding && failed ? retryOf(context, binding, outcome, always) : null
  const nextTryAt = retryAfterSeconds === null ? null : instantAfter(context, retryAfterSeconds * 1000)
  const askedMs = outcome.retry?.afterMs ?? 0
  const { actor, ...origin } = run.origin
  const told = await transactWithAudit(context, { principal: null, ...origin }, async (db, record) => {
    const status = statusOf(outcome)
    const { failures, skipped, unchanged, error } = outcome
    const ended = await finishRun(db, run, { status, failures, skipped, unchanged, error, now: instant(context) })
    await freePlaces(db, orgId, run.id)
    if (!ended) return []
    const lastError = error ?? failures[0]?.reason ?? null
    // Recording the result locks the connection, so that only one of two bindings mails about its credential.
    if (connection && outcome.reached !== null)
      await recordReach(db, connection, outcome.reached ? null : (error ?? 'it did not answer'))
    if (binding && connection)
      await recordPause(db, binding, connection, askedMs > 0 ? instantAfter(context, askedMs) : null)
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

const instantAfter = (context: Context, ms: number): string => new Date(context.now().getTime() + ms).toISOString()

/** A name that could not be pushed makes a run partial. A name that was skipped on purpose does not. */
function statusOf({ error, failures, done }: Outcome) {
  if (error === null) return failures.length === 0 ? 'succeeded' : 'partial'
  return done > 0 ? 'partial' : 'failed'
}

/**
 * Decides whether to mail admins, and what to record about it. Admins are mailed when a person is needed. That is at
 * once for a refused credential and for an error that no retry can fix, and otherwise after several failures in a row.
 * They get one mail until a run succeeds, and one more if the credential is refused.
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

/** The pause doubles each time, with jitter, and is never shorter than the provider asks. A manual binding is not retried. */
function retryOf(context: Context, { mode, enabled, failureStreak }: Binding, { retry }: Outcome, always: boolean) {
  if (retry === null || !enabled || (mode !== 'auto' && !always)) return null
  // If a server stopped during the run, the destination is not at fault, so the pause is short.
  const firstSeconds = always ? 1 : firstPauseSeconds
  const backoff = Math.min(pauseMaxSeconds, firstSeconds * 2 ** Math.min(failureStreak, 10))
  const jitter = 1 + (context.now().getTime() % 100) / 500
  return Math.ceil(Math.max(backoff * jitter, retry.afterMs / 1000))
}

/**
 * Ends a run whose server stopped. The names that it had confirmed stay in its history, and the names that it was sending are
 * reported as unknown. Another try of the binding follows, even if a person had asked for the run.
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
