/**
 * Whether a string of the form of an instant is one that exists, and that the database takes: `Date.parse` rolls the 30th of
 * February on into March, and PostgreSQL has no year 0.
 */
export function isInstant(text: string): boolean {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text && !text.startsWith('0000')
}

/**
 * An instant of a request in the form in which all are stored and compared, or null where there is none such: the 30th of
 * February, or one that another offset moves out of four-digit years. What is finer than a millisecond is cut off.
 */
export function storedInstant(given: string): string | null {
  const text = given.toUpperCase()
  // As it stands there, without its offset: the day must exist where it was written.
  if (!isInstant(`${text.slice(0, 19)}.000Z`)) return null
  const stored = new Date(text).toISOString()
  return isInstant(stored) && stored.length === instantLength ? stored : null
}

const instantLength = '2026-10-04T12:00:00.000Z'.length
