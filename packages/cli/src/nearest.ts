// Suggests the existing name that a mistyped one may mean. The names are the ones that the server lists for the caller,
// so a suggestion tells nothing that the caller may not see.

/** Adds the nearest name to a hint: "did you mean production? Or see `skerry env ls`". */
export function orNearest(wanted: string, names: Iterable<string | null>, hint: string): string {
  const near = nearestName(wanted, names)
  return near === undefined ? hint : `did you mean ${near}? Or ${hint}`
}

/** Like `orNearest`, for several names. The first that resembles another one is corrected. */
export function orNearestOf(missing: readonly string[], names: readonly string[], hint: string): string {
  const near = missing.find((one) => nearestName(one, names) !== undefined)
  return near === undefined ? hint : orNearest(near, names, hint)
}

/**
 * Finds the one name that differs only by case, by a third of its letters at most, or by its end: `prod` means
 * `production`. Undefined if no name does, or if several are equally near.
 */
export function nearestName(wanted: string, names: Iterable<string | null>): string | undefined {
  const given = wanted.toLowerCase()
  // A text that nobody types as a name would only cost time.
  if (given.length < 2 || given.length > namedMax) return undefined
  const ranked = [...new Set(names)]
    .filter((name): name is string => name !== null && name !== wanted && name.length <= namedMax)
    .filter((name) => withoutDigits(name.toLowerCase()) !== withoutDigits(given) || name.toLowerCase() === given)
    .map((name) => ({ name, distance: slipOf(given, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(ownLength(given), ownLength(name)) / 3)
    .sort((one, other) => one.distance - other.distance)
  const [first, second] = ranked
  return first && first.distance !== second?.distance ? first.name : undefined
}

const namedMax = 100

/** The letters before the @ of an address. Many people share the rest. */
const ownLength = (name: string): number => (name.includes('@') ? name.indexOf('@') : name.length)

/** Another number means another thing: nobody who writes pr-8 means pr-7. */
const withoutDigits = (name: string): string => name.replace(/\d/g, '')

/** The missing end of a word counts as one letter. */
const slipOf = (given: string, name: string): number =>
  given.length >= 3 && name !== given && name.startsWith(given) ? 1 : distanceBetween(given, name)

/** The number of letters that were added, left out, mistaken or swapped. */
export function distanceBetween(given: string, name: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: name.length + 1 }, (_, at) => at)
  for (let row = 1; row <= given.length; row++) {
    const current = [row]
    for (let column = 1; column <= name.length; column++) {
      const isSame = given[row - 1] === name[column - 1]
      const isSwapped = given[row - 1] === name[column - 2] && given[row - 2] === name[column - 1]
      current.push(
        Math.min(
          last[column]! + 1,
          current[column - 1]! + 1,
          last[column - 1]! + (isSame ? 0 : 1),
          row > 1 && column > 1 && isSwapped ? beforeLast[column - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    beforeLast = last
    last = current
  }
  return last[name.length]!
}
