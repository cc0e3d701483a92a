/**
 * The earliest instant; all data of Skerry is newer. PostgreSQL has no year 0, so it could not store the start of a
 * time span that ends in the year 1.
 */
const earliest = '1970-01-01T00:00:00.000Z'

/**
 * Whether a string with the format of an instant names one that exists and is in range. `Date.parse` turns the 30th of
 * February into a day in March.
 */
export function isInstant(text: string): boolean {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text && text >= earliest
}

/**
 * Converts an instant to the form in which it is stored and compared -> null if it does not exist, such as the 30th of
 * February, or is out of range, also because of its offset. Digits after the millisecond are cut off.
 */
export function storedInstant(given: string): string | null {
  const text = given.toUpperCase()
  // Checked without its offset: the day must exist in the time zone in which it was written.
  if (!isInstant(`${text.slice(0, 19)}.000Z`)) return null
  const stored = new Date(text).toISOString()
  return isInstant(stored) && stored.length === instantLength ? stored : null
}

/** Converts an instant of a request, which http/texts.ts has already checked, like `storedInstant`. */
export function checkedInstant(given: string): string {
  const stored = storedInstant(given)
  if (stored === null) throw new Error('an instant was not checked')
  return stored
}

const instantLength = '2026-10-04T12:00:00.000Z'.length
