import canonicalize from 'canonicalize'

/**
 * The one spelling that RFC 8785 gives a JSON value. Where every name begins with a letter, that is what the engine writes
 * of an object whose names were put in order, which takes a quarter of the library's time; sealing does it for each entry.
 */
export function canonicalOf(value: object): string {
  const sorted = inOrder(value)
  return (sorted === unsorted ? canonicalize(value) : JSON.stringify(sorted)) as string
}

/** Numbers as names come first in any object, and `__proto__` is none: these are left to the library. */
const unsorted = Symbol('unsorted')
const plainName = /^[a-z]/i

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(inOrder)
    return items.includes(unsorted) ? unsorted : items
  }
  const names = orderOf(Object.keys(value))
  if (names === unsorted) return unsorted
  const object: Record<string, unknown> = {}
  for (const name of names) {
    const part = inOrder((value as Record<string, unknown>)[name])
    if (part === unsorted) return unsorted
    object[name] = part
  }
  return object
}

/** The order of the names that came together before: entries have few sets of names, and sorting is most of the work. */
const orders = new Map<string, readonly string[]>()
const ordersMax = 1000

function orderOf(names: string[]): readonly string[] | typeof unsorted {
  // A name may hold the separator: such a list is never remembered, nor taken for one that has more names.
  const together = names.join('\0')
  const known = orders.get(together)
  if (known?.length === names.length) return known
  if (!names.every((name) => plainName.test(name) && !name.includes('\0'))) return unsorted
  if (orders.size >= ordersMax) orders.clear()
  const order = names.sort()
  orders.set(together, order)
  return order
}
