import { ProviderError } from '../provider-error.ts'
import type { SyncChanges, SyncEntry, SyncFailed, SyncOutcome, SyncWritten } from './provider.ts'

type Write = SyncChanges['write'][number]
type Remove = SyncChanges['remove'][number]

/** Where a provider says nothing of how long to wait. */
const pauseMs = 5000
/** So many refusals of the credential, and nothing else, are no longer taken for those of single names. */
const denialsMax = 3

/** The refusal of a name that was not there when the list was read, and is now. */
export const madeMeanwhile = () =>
  new ProviderError('foreign', 'somebody else has made it there in the meantime, so it was left alone')

/**
 * Changes one name after the other, for destinations without a call for many. A name that is refused fails alone; what would
 * meet all others too, a pause that was asked for or a connection that is gone, ends the push with what was done so far.
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
    // Removals come last: what they break is then already replaced.
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
 * Adds to what was written the revisions that a list shows, for destinations whose answer to a write holds none. That the list
 * cannot be read makes nothing unwritten.
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
