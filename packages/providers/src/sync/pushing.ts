import { ProviderError } from '../provider-error.ts'
import type { SyncChanges, SyncFailed, SyncOutcome, SyncWritten } from './provider.ts'

// What adapters do with the names of a push that go in one call, when one of them fails: the others go on, and what was done is
// always told.

type Write = SyncChanges['write'][number]
type Remove = SyncChanges['remove'][number]

/** How long to leave a destination alone that does not answer. */
const breakMs = 2_000

/** Refusals in a row, without one success, after which the fault is taken to lie with all names. */
const refusalsMax = 12

/**
 * For destinations that take all names with one call and refuse all of them for one: what is refused is sent again in
 * halves, until those that cannot be stored are found.
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

/** Two steps of one push. What the first did is told also when the second cannot be done now. */
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

/** Names that can be told beforehand to fail are taken out, with the reason. */
export function without(changes: SyncChanges, reasonFor: (change: Write) => string | null) {
  const failed: SyncFailed[] = changes.write.flatMap((change) => {
    const reason = reasonFor(change)
    return reason === null ? [] : [{ name: change.name, reason }]
  })
  const names = new Set(failed.map(({ name }) => name))
  return { changes: { ...changes, write: changes.write.filter(({ name }) => !names.has(name)) }, failed }
}

/** Names that somebody has made since the list was read are taken out: they are theirs. */
export function withoutTaken<C extends Pick<SyncChanges, 'write'>>(changes: C, isTaken: (name: string) => boolean) {
  const taken = changes.write.filter(({ name, isNew }) => isNew && isTaken(name)).map(({ name }) => name)
  const reason = 'Somebody else has made it there in the meantime, so it was left alone.'
  const failed = taken.map((name): SyncFailed => ({ name, reason, foreign: true }))
  return { changes: { ...changes, write: changes.write.filter(({ name }) => !taken.includes(name)) }, failed }
}

/** The outcome of a call that did all it was asked. */
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
