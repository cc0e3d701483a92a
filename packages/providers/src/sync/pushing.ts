import { ProviderError } from '../provider-error.ts'
import type { SyncChanges, SyncFailed, SyncOutcome, SyncWritten } from './provider.ts'

// Helpers for destinations that write all names of a push in one call. If one name fails, the others are still written,
// and the outcome reports everything that was done.

type Write = SyncChanges['write'][number]
type Remove = SyncChanges['remove'][number]

/** The pause for a destination that does not answer. */
const breakMs = 2_000

/** After this many refusals without one success, all names are taken to be refused for the same cause. */
const refusalsMax = 12

/**
 * Pushes to a destination that takes all names in one call, and that refuses all of them because of one. A refused part
 * is sent again in halves, until the names that cannot be stored are found.
 */
export async function inHalves(
  { write, remove }: Pick<SyncChanges, 'write' | 'remove'>,
  send: (part: { write: readonly Write[]; remove: readonly Remove[] }) => Promise<SyncOutcome>,
): Promise<SyncOutcome> {
  const written: SyncWritten[] = []
  const removed: string[] = []
  const failed: SyncFailed[] = []
  const parts = [[...write.map((change) => ({ write: change })), ...remove.map((change) => ({ remove: change }))]]
  let refusals = 0
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part.length === 0) continue
    const error = await refusalOf(
      send({
        write: part.flatMap((each) => ('write' in each ? [each.write] : [])),
        remove: part.flatMap((each) => ('remove' in each ? [each.remove] : [])),
      }).then((outcome) => {
        written.push(...outcome.written)
        removed.push(...outcome.removed)
        failed.push(...outcome.failed)
      }),
    )
    if (error === null) continue
    const begun = written.length + removed.length > 0
    if (error.reason !== 'failed') {
      if (!begun && failed.length === 0) throw error
      if (error.reason === 'rate_limited' || error.reason === 'unreachable') {
        const names = part.map((each) => ('write' in each ? each.write.name : each.remove.name))
        const lost = error.reason === 'unreachable' ? { mayBeDone: names } : {}
        return { written, removed, failed, retryAfterMs: error.retryAfterMs ?? breakMs, ...lost }
      }
    }
    refusals++
    const whole = error.reason !== 'failed' || part.length === 1 || (refusals >= refusalsMax && !begun)
    if (whole)
      failed.push(...part.map((each) => failedName('write' in each ? each.write.name : each.remove.name, error)))
    else parts.unshift(part.slice(0, part.length / 2), part.slice(part.length / 2))
  }
  return { written, removed, failed }
}

/** Runs two steps of one push. The outcome of the first is reported even if the second cannot run now. */
export async function andThen(first: SyncOutcome, next: () => Promise<SyncOutcome>): Promise<SyncOutcome> {
  if (first.retryAfterMs !== undefined) return first
  const second = await next().catch((error: unknown): SyncOutcome => {
    if (!(error instanceof ProviderError) || first.written.length + first.removed.length === 0) throw error
    return { written: [], removed: [], failed: [], retryAfterMs: error.retryAfterMs ?? breakMs }
  })
  return {
    ...second,
    written: [...first.written, ...second.written],
    removed: [...first.removed, ...second.removed],
    failed: [...first.failed, ...second.failed],
  }
}

/** Takes out the names that are certain to fail, with the reason. */
export function without(changes: SyncChanges, reasonFor: (change: Write) => string | null) {
  const failed: SyncFailed[] = changes.write.flatMap((change) => {
    const reason = reasonFor(change)
    return reason === null ? [] : [{ name: change.name, reason }]
  })
  const names = new Set(failed.map(({ name }) => name))
  return { changes: { ...changes, write: changes.write.filter(({ name }) => !names.has(name)) }, failed }
}

/** Takes out the names that somebody else has created since the list was read. */
export function withoutTaken<C extends Pick<SyncChanges, 'write'>>(changes: C, isTaken: (name: string) => boolean) {
  const taken = changes.write.filter(({ name, isNew }) => isNew && isTaken(name)).map(({ name }) => name)
  const reason = 'Somebody else created it in the meantime, so it was not changed.'
  const failed = taken.map((name): SyncFailed => ({ name, reason, foreign: true }))
  return { changes: { ...changes, write: changes.write.filter(({ name }) => !taken.includes(name)) }, failed }
}

/** The outcome of a call that did everything. */
export const done = (
  { write, remove }: Pick<SyncChanges, 'write' | 'remove'>,
  revisionOf: (change: Write) => string | null = () => null,
): SyncOutcome => ({
  written: write.map((change) => ({ name: change.name, revision: revisionOf(change), memo: null })),
  removed: remove.map(({ name }) => name),
  failed: [],
})

function failedName(name: string, error: ProviderError): SyncFailed {
  const reason = `The destination refused the name: ${error.message}.`
  return error.reason === 'unreachable'
    ? { name, reason, retryAfterMs: error.retryAfterMs ?? breakMs }
    : { name, reason }
}

async function refusalOf(work: Promise<unknown>): Promise<ProviderError | null> {
  try {
    await work
    return null
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
}
