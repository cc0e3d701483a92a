/** The initials of a person in a circle. The name itself stands beside it. */
export function Face({ name }: { name: string }) {
  return (
    <span className="face" aria-hidden>
      {initialsOf(name)}
    </span>
  )
}

/** Returns the first letters of the first and the last word, at most two. */
function initialsOf(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter(Boolean)
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '')
  return letters.join('').toUpperCase()
}
