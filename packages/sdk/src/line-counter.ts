/** Returns a function that gives the line, from 1, of a position in a text. Rising positions count each line end once. */
export function lineCounter(source: string): (at: number) => number {
  let line = 1
  let counted = 0
  return (at) => {
    if (at < counted) return source.slice(0, at).split('\n').length
    for (; counted < at; counted++) if (source[counted] === '\n') line++
    return line
  }
}
