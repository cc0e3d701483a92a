import canonicalize from 'canonicalize'
import type { Entry } from '../audit/scope.ts'

/**
 * Writes an entry in the canonical form of RFC 8785. The names of its own fields are listed in sorted order. If every
 * metadata name begins with a letter, `JSON.stringify` writes the sorted metadata. That takes a quarter of the
 * library's time, and sealing does it for each entry.
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

/** Marks names that are left to the library: number names come first in any object, and `__proto__` is special. */
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

/** Caches the order of each set of names. Entries have few different sets, and sorting is most of the work. */
const orders = new Map<string, readonly string[]>()
const ordersMax = 1000

function orderOf(names: string[]): readonly string[] | typeof unsorted {
  // A name may contain the separator. Such a list is never cached, and the length check keeps it from matching another.
  const together = names.join('\0')
  const known = orders.get(together)
  if (known?.length === names.length) return known
  if (!names.every((name) => plainName.test(name) && !name.includes('\0'))) return unsorted
  if (orders.size >= ordersMax) orders.clear()
  const order = names.sort()
  orders.set(together, order)
  return order
}
