import { setTimeout as pause } from 'node:timers/promises'
import type { SyncEntry, SyncFacts, SyncSession } from '@skerry/providers/sync/provider'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { type Job, job } from '../../jobs/job.ts'
import { instant, newId } from '../../kernel/context.ts'
import { describe as describeError } from '../../kernel/errors.ts'
import { lockBindings, makeDueAfterPause, updatePlaces } from './binding-store.ts'
import { forgetNames, resetLedger } from './ledger-store.ts'
import { findMeeting } from './names.ts'
import { finish, type Next, nothingDone, type Outcome } from './outcome.ts'
import { makePlan } from './plan.ts'
import { pushAll, Stopped } from './push.ts'
import {
  deleteRun,
  freePlaces,
  holdPlaces,
  insertRun,
  listWaitingFor,
  lockOpenRun,
  type OpenRun,
  renewPlaces,
  type TakenRun,
  takeRun,
} from './run-store.ts'
import { type Binding, findBinding, findConnection, isAskedToWait, type Run } from './scope.ts'
import { describe, openDestination, placesThere, providerError } from './session.ts'
import { digestNow, readValues, stateOf, Unreadable } from './state.ts'

/** Records a run that the server starts by itself, and returns its id. */
const insertOwnRun = (
  context: Context,
  db: Tx,
  { orgId, id, connectionId, environmentId }: Binding,
  trigger: Run['trigger'],
): Promise<string> =>
  insertRun(db, orgId, {
    id: newId('syncRun'),
    bindingId: id,
    connectionId,
    environmentId,
    trigger,
    adopt: [],
    origin: { actor: { type: 'sync', id: connectionId }, ipAddress: null, userAgent: null, requestId: null },
    now: instant(context),
  })

/**
 * Starts a run of a binding, because its settings or its values have changed. During a pause that the destination asked
 * for, the run is put off until its end. A pause of our own does not count, because the change may have mended the error.
 */
export async function startForChange(
  context: Context,
  db: Tx,
  binding: Binding,
  enqueue: (job: Job<Data, Context>, data: Data, sending?: { startAfterSeconds: number }) => Promise<void>,
): Promise<void> {
  const { orgId, id: bindingId, askedUntil } = binding
  if (!isAskedToWait(binding, instant(context))) {
    const runId = await insertOwnRun(context, db, binding, 'change')
    await enqueue(performRun, { orgId, runId })
  } else if (binding.nextTryAt !== askedUntil) {
    const startAfterSeconds = Math.ceil((Date.parse(askedUntil as string) - context.now().getTime()) / 1000)
    await makeDueAfterPause(db, binding)
    await enqueue(performRun, { orgId, bindingId }, { startAfterSeconds })
  }
}

/** A waiting run, or a binding whose last run failed and is to be retried. */
type Data = { orgId: string } & ({ runId: string } | { bindingId: string })

/** Queued with every requested run. If this job fails without an outcome, the sweep finds the run. */
export const performRun: Job<Data, Context> = job(
  'sync.run',
  { concurrency: 8, deadLetter: false },
  async (context: Context, data: Data) => {
    const { orgId } = data
    const runId = 'runId' in data ? data.runId : await beginRetry(context, orgId, data.bindingId)
    if (runId === null) return
    const next = await perform(context, orgId, runId)
    await scheduleNext(context, orgId, runId, next)
    if (next !== 'again') await wakeWaiting(context, orgId, runId)
  },
)

/** Starts runs that wait for the same place at once, before they try again by themselves. */
async function wakeWaiting({ db, queue }: Context, orgId: string, endedId: string): Promise<void> {
  const waiting = await listWaitingFor(db, orgId, endedId)
  for (const { id } of waiting) await queue.enqueue(db, performRun, { orgId, runId: id })
  if (waiting.length > 0) queue.nudge(performRun)
}

/** Queues what follows a run: the same run, if its places were busy, or another try of the binding. */
export async function scheduleNext(context: Context, orgId: string, runId: string, next: Next): Promise<void> {
  if (next === 'again') await context.queue.enqueue(context.db, performRun, { orgId, runId }, { startAfterSeconds: 1 })
  else if (next !== null) {
    const { bindingId, retryAfterSeconds } = next
    const sending = { startAfterSeconds: retryAfterSeconds }
    await context.queue.enqueue(context.db, performRun, { orgId, bindingId }, sending)
  }
}

/** Begins a retry only if it is due: the binding may have succeeded, or failed once more, since the retry was queued. */
const beginRetry = (context: Context, orgId: string, bindingId: string): Promise<string | null> =>
  context.db.transaction(async (tx) => {
    const binding = await findBinding(tx, { id: orgId }, bindingId)
    if (!binding?.enabled || binding.nextTryAt === null || binding.nextTryAt > instant(context)) return null
    return insertOwnRun(context, tx, binding, 'retry')
  })

/** Performs a run that waits. Does nothing if it has ended, or if another server performs it. */
export async function perform(context: Context, orgId: string, runId: string): Promise<Next> {
  const taken = await take(context, orgId, runId)
  if (taken === 'busy') return 'again'
  if (!taken) return null
  if ('gone' in taken) {
    const error = 'The binding was deleted before the run began.'
    return finish(context, { run: taken.gone }, { ...nothingDone(), error })
  }
  const renewing = setInterval(() => renewPlaces(context.db, orgId, runId).catch(() => {}), renewMs)
  try {
    return await finish(context, taken, await outcomeOf(context, taken))
  } finally {
    clearInterval(renewing)
  }
}

/** Well below `heldSeconds`, after which another run may take the places over. */
const renewMs = 2500

class Busy extends Error {}

async function take(
  context: Context,
  orgId: string,
  runId: string,
): Promise<TakenRun | { gone: OpenRun } | 'busy' | null> {
  try {
    return await context.db.transaction(async (tx) => {
      const run = await lockOpenRun(tx, orgId, runId)
      if (!run || run.takenAt !== null) return null
      const binding = await findBinding(tx, { id: orgId }, run.bindingId)
      const connection = binding && (await findConnection(tx, { id: orgId }, binding.connectionId))
      if (!binding || !connection) return { gone: run }
      const held = await holdPlaces(tx, orgId, binding.places, runId)
      if (held.length < binding.places.length) throw new Busy()
      if (run.trigger !== 'request' && (await putOff(context, tx, run))) return null
      await takeRun(tx, orgId, runId, instant(context))
      const idleMs = Math.min(...held.map((place) => place.idleMs ?? Number.POSITIVE_INFINITY))
      return { run, binding, connection, idleMs }
    })
  } catch (error) {
    if (error instanceof Busy) return 'busy'
    throw error
  }
}

/**
 * Puts a run off if the destination has asked for a pause while the run waited. The binding is read after the places are
 * held, because the run that had them before may just have ended. A run that a person asked for is not put off.
 */
async function putOff(context: Context, tx: Tx, { orgId, id, bindingId }: OpenRun): Promise<boolean> {
  const binding = await findBinding(tx, { id: orgId }, bindingId)
  if (!binding || !isAskedToWait(binding, instant(context))) return false
  await freePlaces(tx, orgId, id)
  await deleteRun(tx, orgId, id)
  await startForChange(context, tx, binding, (...sent) => context.queue.enqueue(tx, ...sent))
  return true
}

/** Returns the outcome of a run. Any kind of failure is an outcome too. */
async function outcomeOf(context: Context, taken: TakenRun): Promise<Outcome> {
  const outcome = nothingDone()
  try {
    // The digest is computed before the values are read, so that a change in between is pushed again and not missed.
    outcome.digest = await digestNow(context.db, taken.binding, instant(context))
    await planAndPush(context, taken, outcome)
  } catch (error) {
    fail(context, outcome, error)
  }
  return outcome
}

function fail(context: Context, outcome: Outcome, error: unknown): void {
  const known = providerError(error)
  if (known) {
    outcome.error = known.message
    outcome.reached = false
    outcome.denied = known.denied
    if (known.when !== 'never') outcome.retry = { afterMs: known.retryAfterMs }
  } else if (error instanceof Unreadable) {
    outcome.error = error.message
  } else if (error instanceof Stopped) {
    outcome.error = error.message
    outcome.retry = { afterMs: 0 }
  } else {
    context.log.warn('sync run failed', describeError(error))
    outcome.error = 'The server failed; its log has the cause.'
    outcome.retry = { afterMs: 0 }
  }
}

async function planAndPush(context: Context, asked: TakenRun, outcome: Outcome): Promise<void> {
  const { connection } = asked
  const facts = await describe(connection.config, asked.binding.destination)
  const resolved = await readValues(context, asked.binding, instant(context))
  const session = await openDestination(context, connection, asked.binding.destination, resolved.values.values())
  const taken = await settlePlaces(context, asked, session, facts)
  const { run, binding } = taken
  const state = await stateOf(context, { binding, session: patient(session), facts, resolved, adopt: run.adopt })
  outcome.reached = true
  const plan = makePlan(state)
  outcome.unchanged = plan.unchanged.length
  outcome.failures.push(...plan.refused)
  outcome.skipped.push(...plan.kept, ...plan.foreign.map((name) => foreign(name, state.entries.get(name))))
  if (plan.forget.length > 0) await forgetNames(context.db, binding.orgId, binding.id, plan.forget)
  const writes = [...plan.create, ...plan.update].map((name) => ({
    name,
    value: state.wanted.values.get(name) as string,
    // A new name may exist already if an earlier run was cut off while it was sending the name.
    isNew: !state.entries.has(name) && (state.ledger.get(name)?.sendingRunId ?? null) === null,
  }))
  const memoOf = (name: string) => state.ledger.get(name)?.memo ?? null
  const changes = [...writes, ...plan.delete.map((name) => ({ name, value: null, isNew: false }))]
  await pushAll(context, taken, { session, facts, changes, memoOf }, outcome)
}

const foreign = (name: string, entry: SyncEntry | undefined) => ({
  name,
  reason: entry?.deleted
    ? 'A deleted secret of somebody else has this name there: adopt it, or purge it there.'
    : 'It is there already and was not written by this binding: adopt it, or remove it there.',
})

/** Asks for the list a second time if the provider may only have been busy. */
const patient = (session: SyncSession): SyncSession => ({
  ...session,
  async list() {
    try {
      return await session.list()
    } catch (error) {
      const known = providerError(error)
      if (known?.when !== 'soon' || known.retryAfterMs > 5000) throw error
      await pause(Math.max(500, known.retryAfterMs))
      return session.list()
    }
  },
})

/**
 * Asks a destination that knows a place by several names for its current places, before anything is written. A name may
 * now lead to another app, because the first one was renamed. Then this binding owns nothing there, and another binding
 * may write there.
 */
async function settlePlaces(
  context: Context,
  taken: TakenRun,
  session: SyncSession,
  facts: SyncFacts,
): Promise<TakenRun> {
  const { run, binding } = taken
  const places = await placesThere(session, binding.destination)
  if (places === null || isSame(places, binding.places)) return taken
  const moved = { ...binding, places }
  await context.db.transaction(async (tx) => {
    await lockBindings(tx, { id: binding.orgId })
    const more = places.filter((place) => !binding.places.includes(place))
    const held = await holdPlaces(tx, binding.orgId, more, run.id)
    if (held.length < more.length) throw new Stopped('Another binding is writing to the same destination right now.')
    const met = await findMeeting(tx, moved, facts.limits)
    if (met) throw new Unreadable(`The binding ${met.bindingId} writes ${met.name} to the same destination.`)
    await updatePlaces(tx, moved)
    // If the previous places came only from the binding’s settings, the destination has not moved, so its ledger is
    // kept.
    if (!isSame(binding.places, facts.places)) await resetLedger(tx, binding.orgId, binding.id)
  })
  return { ...taken, binding: moved }
}

const isSame = (one: readonly string[], other: readonly string[]) => one.join('\n') === other.join('\n')
