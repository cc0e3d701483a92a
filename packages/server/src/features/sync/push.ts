import { setTimeout as pause } from 'node:timers/promises'
import type { SyncFacts, SyncLimits, SyncOutcome, SyncSession } from '@skerry/providers/sync/provider'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { beginSending, forgetNames, recordDeleted, recordRefused, recordWritten } from './ledger-store.ts'
import type { Outcome } from './outcome.ts'
import { notePushed, recordProgress, renewPlaces, type TakenRun } from './run-store.ts'
import { findBinding } from './scope.ts'
import { providerError } from './session.ts'
import { digestsOf } from './state.ts'

/** Ends a run, because the binding, its keys or its places changed during it. */
export class Stopped extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Stopped'
  }
}

/** A name to write, or to remove if the value is null. */
interface Change {
  name: string
  value: string | null
  /** True if the name did not exist when the list was read. If it exists by now, somebody else made it. */
  isNew: boolean
}

interface Push {
  session: SyncSession
  facts: SyncFacts
  changes: readonly Change[]
  memoOf: (name: string) => string | null
}

/** If a provider asks for a longer pause, the next run continues instead. */
const pauseMaxMs = 10_000
const triesMax = 3

export async function pushAll(context: Context, taken: TakenRun, push: Push, outcome: Outcome): Promise<void> {
  const { facts, changes } = push
  const atOnce = facts.limits.pushNamesMax ?? Math.max(1, changes.length)
  let pushedAtMs = performance.now() - taken.idleMs
  let isFirst = true
  const pace = async (names: number) => {
    const left = pauseBefore(facts.limits, performance.now() - pushedAtMs, isFirst)
    if (left > 0) await pause(left)
    pushedAtMs = performance.now() - spared(facts.limits, names)
    isFirst = false
  }
  for (let from = 0; from < changes.length; from += atOnce)
    await pushBatch(context, taken, { ...push, changes: changes.slice(from, from + atOnce) }, outcome, pace)
}

async function pushBatch(
  context: Context,
  taken: TakenRun,
  push: Push,
  outcome: Outcome,
  pace: (names: number) => Promise<void>,
): Promise<void> {
  let left = push.changes
  for (let tries = 1; left.length > 0; tries++) {
    await pace(left.length)
    await begin(context, taken, left)
    const answer = await pushOnce(taken, { ...push, changes: left })
    const waits =
      'refused' in answer
        ? { left: answer.refused.isLost ? left.map(maybeOurs) : left, pauseMs: answer.refused.pauseMs }
        : await record(context, taken, { ...push, changes: left }, answer, outcome)
    const pauseMs = Math.max(waits.pauseMs, 250 * 2 ** tries)
    left = waits.left
    if (left.length === 0) return
    if (tries >= triesMax || pauseMs > pauseMaxMs) {
      if ('refused' in answer) throw answer.refused.error
      await giveUp(context, taken, waits.left, answer, outcome, waits.pauseMs)
      return
    }
    await pause(pauseMs)
  }
}

/**
 * Records the names that are about to be sent, and checks that this run may still send them. If the run is cut off
 * afterwards, the next run knows that the binding owns these names and that their values are unknown.
 */
async function begin(context: Context, { run, binding }: TakenRun, changes: readonly Change[]): Promise<void> {
  const { orgId, id } = binding
  await context.db.transaction(async (tx) => {
    if ((await renewPlaces(tx, orgId, run.id)) < binding.places.length)
      throw new Stopped('Another run took over, because this server was not heard of for too long.')
    await tx.rows('select 1 from sync_bindings where org_id = $1 and id = $2 for share', [orgId, id])
    const now = await findBinding(tx, { id: orgId }, id)
    if (!now) throw new Stopped('The binding was deleted during the run.')
    if (now.revision !== binding.revision) throw new Stopped('The binding was changed during the run.')
    if (now.missingEnvironmentIds.length > 0)
      throw new Stopped('The connection lost the key of the environment, or of a group in it, during the run.')
    await beginSending(
      tx,
      orgId,
      id,
      run.id,
      changes.map(({ name }) => name),
    )
  })
}

type Answer = SyncOutcome | { refused: { error: unknown; isLost: boolean; pauseMs: number } }

/** After a lost answer, the destination may already have the value that was sent. */
const maybeOurs = (change: Change): Change => ({ ...change, isNew: false })

/** Throws an error that another try would not fix. */
async function pushOnce({ run }: TakenRun, { session, changes, memoOf }: Push): Promise<Answer> {
  try {
    return await session.push({
      runId: run.id,
      write: changes.flatMap(({ name, value, isNew }) =>
        value === null ? [] : [{ name, value, memo: memoOf(name), isNew }],
      ),
      remove: changes.flatMap(({ name, value }) => (value === null ? [{ name, memo: memoOf(name) }] : [])),
    })
  } catch (error) {
    const known = providerError(error)
    if (known?.when !== 'soon') throw error
    return { refused: { error, isLost: known.isLost, pauseMs: known.retryAfterMs } }
  }
}

/** Records the names that were pushed, and returns the changes that are worth another try, with the pause before it. */
async function record(
  context: Context,
  { run, binding }: TakenRun,
  { facts, changes }: Push,
  answer: SyncOutcome,
  outcome: Outcome,
): Promise<{ left: Change[]; pauseMs: number }> {
  const { ofValue, ofRevision } = digestsOf(context, binding, facts)
  const valueNow = new Map(changes.map(({ name, value }) => [name, value]))
  const written = answer.written.flatMap(({ name, revision, memo }) => {
    const value = valueNow.get(name)
    if (typeof value !== 'string') return []
    return [{ name, valueDigest: ofValue(name, value), revisionDigest: revision && ofRevision(name, revision), memo }]
  })
  const removed = answer.removed.filter((name) => valueNow.get(name) === null)
  const refused = answer.failed.filter(({ name, retryAfterMs }) => valueNow.has(name) && retryAfterMs === undefined)
  await context.db.transaction(async (tx) => {
    await notePushed(tx, run.orgId, run.id, spared(facts.limits, changes.length))
    await recordWritten(tx, run, written, instant(context))
    if (facts.keepsDeleted) await recordDeleted(tx, run.orgId, run.bindingId, removed, instant(context))
    else await forgetNames(tx, run.orgId, run.bindingId, removed)
    await recordRefused(
      tx,
      run,
      refused.map(({ name }) => name),
    )
    await recordProgress(tx, run, { pushed: written.map(({ name }) => name), deleted: removed })
  })
  for (const { name, reason, foreign } of refused) (foreign ? outcome.skipped : outcome.failures).push({ name, reason })
  outcome.done += written.length + removed.length
  const settled = new Set([...written, ...refused].map(({ name }) => name).concat(removed))
  const lost = new Set(answer.mayBeDone)
  const left = changes
    .filter(({ name }) => !settled.has(name))
    .map((change) => (lost.has(change.name) ? maybeOurs(change) : change))
  const pauses = answer.failed.map(({ retryAfterMs }) => retryAfterMs ?? 0)
  return { left, pauseMs: Math.max(answer.retryAfterMs ?? 0, 0, ...pauses) }
}

/** Records the remaining changes as failed. The next run begins with them. */
async function giveUp(
  context: Context,
  { run }: TakenRun,
  left: readonly Change[],
  { failed }: SyncOutcome,
  outcome: Outcome,
  afterMs: number,
): Promise<void> {
  const reasons = new Map(failed.map(({ name, reason }) => [name, reason]))
  const told = left.filter(({ name }) => reasons.has(name)).map(({ name }) => name)
  await context.db.transaction((tx) => recordRefused(tx, run, told))
  for (const { name } of left)
    outcome.failures.push({ name, reason: reasons.get(name) ?? 'The provider did not say what became of it.' })
  outcome.retry = { afterMs }
}

/**
 * The longest pause before the first push of a run. A push must begin within 5 seconds of a change, even right after
 * another push. If that is too early for the service, it asks for a pause, and the run waits that long.
 */
export const firstPauseMaxMs = 2000

/**
 * Returns the pause before a push, from the time since the last push to the same place. It is pure, so that a test can
 * check every destination.
 */
export function pauseBefore({ pushIntervalMs }: SyncLimits, sinceLastMs: number, isFirst: boolean): number {
  const left = Math.max(0, pushIntervalMs - sinceLastMs)
  return isFirst ? Math.min(left, firstPauseMaxMs) : left
}

/** Returns how much of the pause is skipped after a push that used only a part of the names allowed in one push. */
export const spared = ({ pushIntervalMs, pushNamesMax }: SyncLimits, names: number): number =>
  pushNamesMax === null ? 0 : pushIntervalMs * Math.max(0, 1 - names / pushNamesMax)
