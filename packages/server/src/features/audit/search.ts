import type { Context } from '../../http/context.ts'
import type { Piece, Place } from './store.ts'

export interface AuditContext extends Context {
  /** Queries `select id, name` about organization $1, from the descriptors of features. */
  auditNames: readonly string[]
  auditSearch: SearchLimits
}

/** The limits of one search in the audit log. */
export interface SearchLimits {
  listMs: number
  timelineMs: number
  /** Entries in the first piece. Later pieces grow or shrink with the speed of the database. */
  pieceEntries: number
}

export const searchLimits = (): SearchLimits => ({ listMs: 1000, timelineMs: 3000, pieceEntries: 2000 })

/** The target time of a piece: others wait no longer on the embedded database, and a hang-up is noticed by then. */
const quickMs = 20
const slowMs = 80
const pieceMax = 50_000
const pieceMin = 500

export interface Search<Found> {
  /** The position after which the search begins. */
  after: Place
  /** Entries of the first piece. */
  size: number
  limitMs: number
  read: (after: Place, size: number) => Promise<Piece<Found>>
  /** Receives the found entries, and returns true if they are enough. */
  take: (found: Found[]) => boolean
}

/**
 * Reads piece by piece until enough is found, the log ends, or the time limit has passed.
 *
 * @returns the last searched position if the time limit has passed; else null
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
