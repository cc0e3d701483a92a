/**
 * Whether a string of the form of an instant is one that exists, and that the database takes: `Date.parse` rolls the 30th of
 * February on into March, and PostgreSQL has no year 0.
 */
export function isInstant(text: string): boolean {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text && !text.startsWith('0000')
}
