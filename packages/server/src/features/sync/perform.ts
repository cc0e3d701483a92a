import { setTimeout as pause } from 'node:timers/promises'
import type { SyncEntry, SyncSession } from '@skerry/providers/sync/provider'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { describe as describeError } from '../../kernel/errors.ts'
import { decide } from './decide.ts'
import { finish } from './finish.ts'
import { forgetNames } from './ledger-store.ts'
import { type Next, nothingDone, type Outcome, type Taken } from './outcome.ts'
import { settlePlaces } from './places.ts'
import { holdPlaces, lockOpenRun, type OpenRun, renewPlaces, takeRun } from './run-store.ts'
import { findBinding, findConnection } from './scope.ts'
import { Stopped, sendAll } from './send.ts'
import { describe, openDestination, providerError } from './session.ts'
import { stateOf } from './state.ts'
import { digestNow, readValues, Unreadable } from './values.ts'

/** Does a run that waits. Nothing happens where it is done, or another server has it. */
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

/** Well within the time for which places are held. */
const renewMs = 2500

class Busy extends Error {}

async function take(
  context: Context,
  orgId: string,
  runId: string,
): Promise<Taken | { gone: OpenRun } | 'busy' | null> {
  try {
    return await context.db.transaction(async (tx) => {
      const run = await lockOpenRun(tx, orgId, runId)
      if (!run || run.takenAt !== null) return null
      const binding = await findBinding(tx, { id: orgId }, run.bindingId)
      const connection = binding && (await findConnection(tx, { id: orgId }, binding.connectionId))
      if (!binding || !connection) return { gone: run }
      const held = await holdPlaces(tx, orgId, binding.places, runId)
      if (held.length < binding.places.length) throw new Busy()
      await takeRun(tx, orgId, runId, instant(context))
      const idleMs = Math.min(...held.map((place) => place.idleMs ?? Number.POSITIVE_INFINITY))
      return { run, binding, connection, idleMs }
    })
  } catch (error) {
    if (error instanceof Busy) return 'busy'
    throw error
  }
}

/** Everything that a run comes to; a failure of any kind is one of its outcomes. */
async function outcomeOf(context: Context, taken: Taken): Promise<Outcome> {
  const outcome = nothingDone()
  try {
    // Before the values are read: what changes in between is pushed again, and not missed.
    outcome.digest = await digestNow(context.db, taken.binding, instant(context))
    await push(context, taken, outcome)
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

async function push(context: Context, asked: Taken, outcome: Outcome): Promise<void> {
  const { connection } = asked
  const facts = await describe(connection.config, asked.binding.destination)
  const resolved = await readValues(context, asked.binding, instant(context))
  const session = await openDestination(context, connection, asked.binding.destination, resolved.values.values())
  const taken = await settlePlaces(context, asked, session, facts)
  const { run, binding } = taken
  const state = await stateOf(context, { binding, session: patient(session), facts, resolved, adopt: run.adopt })
  outcome.reached = true
  const decision = decide(state)
  outcome.unchanged = decision.unchanged.length
  outcome.failures.push(...decision.refused)
  outcome.skipped.push(...decision.kept, ...decision.foreign.map((name) => foreign(name, state.entries.get(name))))
  if (decision.forget.length > 0) await forgetNames(context.db, binding.orgId, binding.id, decision.forget)
  const writes = [...decision.create, ...decision.update].map((name) => ({
    name,
    value: state.wanted.values.get(name) as string,
    // A name that an earlier run was sending when it was cut off may be there by that run.
    isNew: !state.entries.has(name) && (state.ledger.get(name)?.sendingRunId ?? null) === null,
  }))
  const memoOf = (name: string) => state.ledger.get(name)?.memo ?? null
  const changes = [...writes, ...decision.delete.map((name) => ({ name, value: null, isNew: false }))]
  await sendAll(context, taken, { session, facts, changes, memoOf }, outcome)
}

const foreign = (name: string, entry: SyncEntry | undefined) => ({
  name,
  reason: entry?.deleted
    ? 'A deleted secret of somebody else has this name there: adopt it, or purge it there.'
    : 'It is there already and was not written by this binding: adopt it, or remove it there.',
})

/** Asks for the list once more where the provider may only have been busy. */
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
