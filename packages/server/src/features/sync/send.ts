import { setTimeout as pause } from 'node:timers/promises'
import type { SyncFacts, SyncOutcome, SyncSession } from '@skerry/providers/sync/provider'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { beginSending, forgetNames, recordDeleted, recordRefused, recordWritten } from './ledger-store.ts'
import type { Outcome, Taken } from './outcome.ts'
import { pauseBefore, spared } from './pace.ts'
import { notePushed, recordProgress, renewPlaces } from './run-store.ts'
import { findBinding } from './scope.ts'
import { providerError } from './session.ts'
import { digestsOf } from './state.ts'

/** Why a run went no further: what it was for is no longer so. */
export class Stopped extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Stopped'
  }
}

/** A name to write, or to remove where the value is null. */
interface Change {
  name: string
  value: string | null
  /** Whether nothing was there when the list was read. What has come since is somebody else’s. */
  isNew: boolean
}

interface Sending {
  session: SyncSession
  facts: SyncFacts
  changes: readonly Change[]
  memoOf: (name: string) => string | null
}

/** What a provider asks to wait beyond this, the next run waits. */
const pauseMaxMs = 10_000
const triesMax = 3

export async function sendAll(context: Context, taken: Taken, sending: Sending, outcome: Outcome): Promise<void> {
  const { facts, changes } = sending
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
    await sendBatch(context, taken, { ...sending, changes: changes.slice(from, from + atOnce) }, outcome, pace)
}

async function sendBatch(
  context: Context,
  taken: Taken,
  sending: Sending,
  outcome: Outcome,
  pace: (names: number) => Promise<void>,
): Promise<void> {
  let left = sending.changes
  for (let tries = 1; left.length > 0; tries++) {
    await pace(left.length)
    await begin(context, taken, left)
    const answer = await sendOnce(taken, { ...sending, changes: left })
    const waits =
      'refused' in answer
        ? { left: answer.refused.isLost ? left.map(maybeOurs) : left, pauseMs: answer.refused.pauseMs }
        : await record(context, taken, { ...sending, changes: left }, answer, outcome)
    const pauseMs = Math.max(waits.pauseMs, 250 * 2 ** tries)
    left = waits.left
    if (left.length === 0) return
    if (tries >= triesMax || pauseMs > pauseMaxMs) {
      if ('refused' in answer) throw answer.refused.error
      await giveUp(context, taken, waits.left, answer, outcome, pauseMs)
      return
    }
    await pause(pauseMs)
  }
}

/**
 * Writes down what is about to be sent, and looks whether it may be still: whatever is cut off from here on, the next run knows
 * that these names are ours and that what is there is not known.
 */
async function begin(context: Context, { run, binding }: Taken, changes: readonly Change[]): Promise<void> {
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

/** Once an answer was lost, what is there now may be what was sent. */
const maybeOurs = (change: Change): Change => ({ ...change, isNew: false })

/** Throws what another try would not mend. */
async function sendOnce({ run }: Taken, { session, changes, memoOf }: Sending): Promise<Answer> {
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

/** Notes what was done, and gives what is worth another try with the pause before it. */
async function record(
  context: Context,
  { run, binding }: Taken,
  { facts, changes }: Sending,
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

/** What is left has failed in this run; the next one begins with it. */
async function giveUp(
  context: Context,
  { run }: Taken,
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
