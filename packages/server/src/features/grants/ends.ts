import { fail } from '../../kernel/errors.ts'

/**
 * A holder whose own access ends gives nobody longer access, so that nobody makes their own access permanent.
 *
 * @param own when the holder's access ends; null if it does not end
 * @param given when the given access ends
 */
export function checkEnd(own: string | null, given: string | null): void {
  if (own === null || (given !== null && given <= own)) return
  throw fail('conflict', `your own access ends at ${own}: choose an earlier end, or ask another admin`)
}

/** The rotator and sync connections keep a key until somebody takes it from them, so a holder for some time gives them none. */
export function checkLasting(own: string | null, reader: string): void {
  if (own === null) return
  throw fail(
    'conflict',
    `your own access ends at ${own}, and ${reader} keeps the key: ask an admin whose access does not end`,
  )
}
