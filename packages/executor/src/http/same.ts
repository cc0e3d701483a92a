import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares digests, so that the time taken reveals neither content nor length. */
export function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}
