// Decides which secrets a sync binding pushes. The server uses it, and clients show the result while a filter is typed.

/**
 * Whether a secret of this name is pushed. Without `include`, every secret is included. `exclude` has the last word. In
 * both, `*` stands for any characters.
 *
 * @example isIncluded('DB_URL', { include: ['DB_*'], exclude: [] }) // true
 */
export const isIncluded = (
  name: string,
  { include, exclude }: { include: readonly string[]; exclude: readonly string[] },
): boolean =>
  (include.length === 0 || include.some((pattern) => matches(name, pattern))) &&
  !exclude.some((pattern) => matches(name, pattern))

/** Matches without backtracking, so that no pattern is slow. */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let from = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, from)
    if (found < 0) return false
    from = found + piece.length
  }
  return name.length - last.length >= from && name.endsWith(last)
}
