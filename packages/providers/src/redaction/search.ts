/** A text to search for, and the name that is reported when it is found. */
export interface Needle {
  bytes: Uint8Array
  name: string
}

interface Found {
  at: number
  needle: Needle
}

export interface Search {
  /** The length of the longest needle. */
  longest: number
  /**
   * Finds the first needle that begins at `from` or later, but before `before`. Of several at one position, returns the
   * longest.
   */
  next: (bytes: Uint8Array, from: number, before: number) => Found | undefined
  /**
   * Returns the first position from `from` where the rest of the bytes may begin a needle, or the end if there is none.
   */
  open: (bytes: Uint8Array, from: number) => number
}

/** The table has an entry for every pair of bytes. */
const pairs = 65_536

/**
 * Wu and Manber's search for several texts at once (1994). A window is as long as the shortest needle. A table says, by
 * the last two bytes of the window, how far the window may move. Far from a needle it moves by nearly its length, so
 * most bytes are never read. The longest of the needles that begin at one position wins.
 *
 * @param needles none shorter than two bytes.
 */
export function searchFor(needles: readonly Needle[]): Search {
  const width = Math.min(255, ...needles.map(({ bytes }) => bytes.length))
  const longest = Math.max(0, ...needles.map(({ bytes }) => bytes.length))
  const byLength = needles.toSorted((a, b) => b.bytes.length - a.bytes.length)
  const shifts = new Uint8Array(pairs).fill(width - 1)
  const byPair = new Map<number, Needle[]>()
  for (const needle of byLength) {
    const { bytes } = needle
    for (let end = 1; end < width; end++) {
      const pair = (bytes[end - 1]! << 8) | bytes[end]!
      shifts[pair] = Math.min(shifts[pair]!, width - 1 - end)
    }
    const last = (bytes[width - 2]! << 8) | bytes[width - 1]!
    const same = byPair.get(last)
    if (same) same.push(needle)
    else byPair.set(last, [needle])
  }
  const firstBytes = new Uint8Array(256)
  for (const { bytes } of needles) firstBytes[bytes[0]!] = 1
  const byFirstPair = Map.groupBy(byLength, ({ bytes }) => (bytes[0]! << 8) | bytes[1]!)

  const next = (bytes: Uint8Array, from: number, before: number): Found | undefined => {
    const end = Math.min(bytes.length, before + width - 1)
    let at = from + width - 1
    while (at < end) {
      const pair = (bytes[at - 1]! << 8) | bytes[at]!
      const shift = shifts[pair]!
      if (shift === 0) {
        const start = at - width + 1
        const needle = byPair.get(pair)!.find((one) => isAt(bytes, start, one.bytes))
        if (needle) return { at: start, needle }
        at++
      } else at += shift
    }
    return undefined
  }
  const open = (bytes: Uint8Array, from: number): number => {
    const last = bytes.length - 1
    for (let at = Math.max(from, bytes.length - longest + 1); at < last; at++) {
      // Nearly every position fails here, so a chunk costs few comparisons.
      if (firstBytes[bytes[at]!] === 0) continue
      const left = bytes.length - at
      const mayBegin = ({ bytes: own }: Needle) => own.length > left && isAt(bytes, at, own, left)
      if (byFirstPair.get((bytes[at]! << 8) | bytes[at + 1]!)?.some(mayBegin)) return at
    }
    return last >= from && firstBytes[bytes[last]!] === 1 ? last : bytes.length
  }
  if (needles.length === 0) return { longest, next: () => undefined, open: (bytes) => bytes.length }
  return { longest, next, open }
}

/** Whether the needle, or its first `length` bytes, is at this position. */
function isAt(bytes: Uint8Array, at: number, needle: Uint8Array, length = needle.length): boolean {
  if (at + length > bytes.length) return false
  for (let i = 0; i < length; i++) if (bytes[at + i] !== needle[i]) return false
  return true
}
