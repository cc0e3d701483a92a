import { ProviderError } from '../provider-error.ts'
import type { SyncChanges, SyncEntry, SyncFailed, SyncOutcome, SyncWritten } from './provider.ts'

type Write = SyncChanges['write'][number]
type Remove = SyncChanges['remove'][number]

/** The pause used when a provider sends no Retry-After. */
const pauseMs = 5000
/** The push fails if this many names are refused because of the credential, and no name had another result. */
const denialsMax = 3

/** The refusal of a name that somebody else created after the list was read. */
export const madeMeanwhile = () =>
  new ProviderError('foreign', 'somebody else created it in the meantime, so it was not changed')

/**
 * Changes one name after another, for destinations that change one name per call. A refused name fails alone. A rate
 * limit or a broken connection would also affect the other names. So such an error ends the push, and the outcome
 * reports what was done so far.
 */
export async function oneByOne(
  { write, remove }: Pick<SyncChanges, 'write' | 'remove'>,
  steps: { write(change: Write): Promise<Omit<SyncWritten, 'name'>>; remove(change: Remove): Promise<void> },
): Promise<SyncOutcome> {
  const written: SyncWritten[] = []
  const removed: string[] = []
  const failed: SyncFailed[] = []
  const work = [
    ...write.map((change) => ({
      name: change.name,
      isNew: change.isNew === true,
      run: async () => void written.push({ name: change.name, ...(await steps.write(change)) }),
    })),
    // Removals come last, so that a new name exists before the name that it replaces is removed.
    ...remove.map((change) => ({
      name: change.name,
      isNew: false,
      run: async () => {
        await steps.remove(change)
        removed.push(change.name)
      },
    })),
  ]
  let denials = 0
  for (const { name, isNew, run } of work) {
    try {
      await run()
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      const nothingYet = written.length + removed.length + failed.length === denials
      if (error.reason === 'denied' && nothingYet && ++denials === Math.min(denialsMax, work.length)) throw error
      if (error.reason === 'rate_limited' || error.reason === 'unreachable') {
        const retryAfterMs = error.retryAfterMs ?? pauseMs
        if (written.length + removed.length + failed.length === 0)
          throw new ProviderError(error.reason, error.message, retryAfterMs)
        const lost = error.reason === 'unreachable' ? { mayBeDone: [name] } : {}
        return { written, removed, failed, retryAfterMs, ...lost }
      }
      const again = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }
      const isForeign = error.reason === 'foreign' || (error.reason === 'exists' && isNew)
      const foreign = isForeign && error.retryAfterMs === undefined ? { foreign: true as const } : {}
      failed.push({ name, reason: sentence(error.message), ...again, ...foreign })
    }
  }
  return { written, removed, failed }
}

function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/**
 * Adds the revisions of a list to the names that were written, for destinations that do not return them on a write. If
 * the list cannot be read, the names still count as written.
 */
export async function withRevisions(outcome: SyncOutcome, list: () => Promise<SyncEntry[]>): Promise<SyncOutcome> {
  if (outcome.written.length === 0) return outcome
  const entries = await list().catch((error: unknown) => {
    if (error instanceof ProviderError) return []
    throw error
  })
  const revisions = new Map(entries.map(({ name, revision }) => [name, revision]))
  const written = outcome.written.map((each) => ({ ...each, revision: revisions.get(each.name) ?? null }))
  return { ...outcome, written }
}
