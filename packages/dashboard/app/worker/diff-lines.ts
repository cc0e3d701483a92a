export interface Line {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Above this number of comparisons, all lines between the common ends count as removed and added. */
const comparisonsMax = 4_000_000

/** Compares two texts line by line. */
export function diffLines(before: string[], after: string[]): Line[] {
  const least = Math.min(before.length, after.length)
  let head = 0
  while (head < least && before[head] === after[head]) head++
  let tail = 0
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return [
    ...linesOf('same', before.slice(0, head)),
    ...diffMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...linesOf('same', before.slice(before.length - tail)),
  ]
}

const linesOf = (kind: Line['kind'], texts: string[]) => texts.map((text): Line => ({ kind, text }))

/** Keeps the longest common subsequence of lines. */
function diffMiddle(before: string[], after: string[]): Line[] {
  if (before.length * after.length > comparisonsMax) return [...linesOf('removed', before), ...linesOf('added', after)]
  const longest = longestCommon(before, after)
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const isSame = i < before.length && before[i] === after[j]
    const isRemoved = !isSame && i < before.length && longest(i + 1, j) >= longest(i, j + 1)
    const text = isSame || isRemoved ? before[i++] : after[j]
    if (!isRemoved) j++
    lines.push({ kind: isSame ? 'same' : isRemoved ? 'removed' : 'added', text: text ?? '' })
  }
  return lines
}

/** Returns the length of the longest common subsequence of `before` from line `i` on and `after` from line `j` on. */
function longestCommon(before: string[], after: string[]): (i: number, j: number) => number {
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  return (i, j) => (j > after.length ? -1 : at(i, j))
}
