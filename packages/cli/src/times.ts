import { formatAgo, formatLocal } from './duration.ts'
import { isTerminal } from './output.ts'

/**
 * Formats an instant for a table or a line of text. A terminal gets `2 hours ago`, or the local time of a future
 * instant. A pipe or a file gets the instant in RFC 3339, which programs can sort and compare.
 *
 * @param without the text for no instant.
 */
export function shownTime(instant: string | null, without = 'never'): string {
  if (instant === null) return without
  if (!isTerminal.stdout()) return instant
  return Date.parse(instant) > Date.now() ? formatLocal(instant) : formatAgo(instant, Date.now())
}

/** Like `shownTime`, but precise to the second, for logs and for auditors. */
export const shownMoment = (instant: string): string =>
  isTerminal.stdout() ? formatLocal(instant, 'seconds') : instant

/**
 * Formats an instant for a message, beside a word such as `until` or `since`. Messages go to stderr: a terminal gets the
 * local time, anything else the instant.
 */
export const notedTime = (instant: string): string => (isTerminal.stderr() ? formatLocal(instant) : instant)
