/**
 * The earliest instant: nothing that Skerry stores is older. PostgreSQL has no year 0, so it could not hold the beginning of a
 * time span that ends in the year 1.
 */
const earliest = '1970-01-01T00:00:00.000Z'

/**
 * Whether a string of the form of an instant is one that exists and is in range: `Date.parse` rolls the 30th of February on
 * into March.
 */
export function isInstant(text: string): boolean {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text && text >= earliest
}

/**
 * The form in which every instant is stored and compared -> null for an instant that does not exist, such as the 30th of
 * February, and for one that is out of range, also because of its offset. Digits after the millisecond are cut off.
 */
export function storedInstant(given: string): string | null {
  const text = given.toUpperCase()
  // As it stands there, without its offset: the day must exist where it was written.
  if (!isInstant(`${text.slice(0, 19)}.000Z`)) return null
  const stored = new Date(text).toISOString()
  return isInstant(stored) && stored.length === instantLength ? stored : null
}

/** Like `storedInstant`, for an instant of a request that http/texts.ts has checked. */
export function checkedInstant(given: string): string {
  const stored = storedInstant(given)
  if (stored === null) throw new Error('an instant was not checked')
  return stored
}

const instantLength = '2026-10-04T12:00:00.000Z'.length
