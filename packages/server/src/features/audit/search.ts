import type { Context } from '../../http/context.ts'
import type { Piece, Place } from './store.ts'

export interface AuditContext extends Context {
  /** Queries `select id, name` about organization $1, from the descriptors of features. */
  auditNames: readonly string[]
  auditSearch: SearchLimits
}

/** How far a search of the audit log goes in one request. */
export interface SearchLimits {
  listMs: number
  timelineMs: number
  /** Entries of the first piece. Later ones are as large as the database reads in a moment. */
  pieceEntries: number
}

export const searchLimits = (): SearchLimits => ({ listMs: 1000, timelineMs: 3000, pieceEntries: 2000 })

/** A piece is to take about so long: others wait for no longer on the embedded database, and a hang-up is noticed by then. */
const quickMs = 20
const slowMs = 80
const pieceMax = 50_000
const pieceMin = 500

export interface Search<Found> {
  /** The place to begin after. */
  after: Place
  /** Entries of the first piece. */
  size: number
  limitMs: number
  read: (after: Place, size: number) => Promise<Piece<Found>>
  /** Takes what was found, and says whether that is enough. */
  take: (found: Found[]) => boolean
}

/**
 * Reads piece by piece until enough is found, the log ends, or the time is over.
 *
 * @returns the place behind which nothing was searched, where time was over; else null
 */
export async function search<Found>({ after, size, limitMs, read, take }: Search<Found>): Promise<Place | null> {
  const endsAtMs = performance.now() + limitMs
  let [place, entries] = [after, size]
  for (;;) {
    const beganMs = performance.now()
    const { found, looked, last } = await read(place, entries)
    if (take(found) || looked < entries || last === null) return null
    if (performance.now() >= endsAtMs) return last
    place = last
    entries = nextSize(entries, performance.now() - beganMs)
  }
}

function nextSize(entries: number, tookMs: number): number {
  if (tookMs < quickMs) return Math.min(pieceMax, entries * 2)
  return tookMs > slowMs ? Math.max(pieceMin, entries >> 1) : entries
}
