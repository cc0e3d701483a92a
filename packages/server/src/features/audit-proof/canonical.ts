import canonicalize from 'canonicalize'
import type { Entry } from '../audit/scope.ts'

/**
 * The one spelling that RFC 8785 gives an entry. Its own names stand here in their order, and where every name in its
 * metadata begins with a letter, the rest is what the engine writes of an object whose names were put in order. That takes a
 * quarter of the library's time; sealing does it for each entry.
 */
export function canonicalOf(entry: Entry): string {
  const metadata = inOrder(entry.metadata)
  if (metadata === unsorted) return canonicalize(fieldsOf(entry, entry.metadata)) as string
  return JSON.stringify(fieldsOf(entry, metadata))
}

const fieldsOf = (entry: Entry, metadata: unknown) =>
  ({
    action: entry.action,
    actorId: entry.actorId,
    actorType: entry.actorType,
    createdAt: entry.createdAt,
    id: entry.id,
    ipAddress: entry.ipAddress,
    metadata,
    requestId: entry.requestId,
    resourceId: entry.resourceId,
    resourceType: entry.resourceType,
    userAgent: entry.userAgent,
  }) satisfies Record<keyof Entry, unknown>

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
