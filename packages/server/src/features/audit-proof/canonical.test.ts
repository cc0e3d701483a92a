import canonicalize from 'canonicalize'
import { expect, it } from 'vitest'
import { canonicalOf } from './canonical.ts'

const values: [what: string, value: object][] = [
  ['plain names', { id: 'aud_1', action: 'secret.written', metadata: { version: 2, name: 'A' }, ipAddress: null }],
  ['nested lists', { b: [{ z: 1, a: [{ y: true, x: null }] }], a: [] }],
  ['names that are numbers', { metadata: { 10: 'ten', 9: 'nine', a: 0 } }],
  ['names that are numbers in a list', { all: [{ a: 1 }, { 2: 'two', 10: 'ten' }] }],
  ['names with a meaning in JavaScript', JSON.parse('{"a":{"__proto__":{"b":1},"constructor":2}}')],
  ['names beyond ASCII', { é: 1, z: 2, ö: 3, '€': 4, '😀': 5, a: 6 }],
  ['letters beyond ASCII in values', { a: 'é€😀', b: '\u2028 "quoted" \\ \n \u0007' }],
  ['numbers', { a: 1e21, b: 1e-7, c: -0, d: 0.1, e: 123456789012345680000 }],
  ['the same names in another order', { y: 1, x: 2 }],
  ['names that were cached before, in a value', { w: { x: 1, y: 2 }, y: 3, x: 4 }],
  ['a name with the zero character', JSON.parse('{"y\\u0000x":1}')],
  ['a name like two cached names together', JSON.parse('{"w\\u0000y":1,"x":2}')],
  ['capitals before small letters', { b: 1, B: 2, a: 3, A: 4, aB: 5, ab: 6 }],
]

/** Fields in the order of the API, which is not that of their names. */
const entryWith = (metadata: object) => ({
  id: 'aud_1',
  action: 'secret.written',
  actorType: 'service_token',
  actorId: 'skt_1',
  resourceType: 'secret',
  resourceId: null,
  metadata: metadata as Record<string, unknown>,
  ipAddress: '127.0.0.1',
  userAgent: 'an "agent"',
  requestId: 'req_1',
  createdAt: '2026-11-20T20:12:33.000Z',
})

it.each(values)('an entry with %s in its metadata is written as the library writes it', (_what, metadata) => {
  const entry = entryWith(metadata)
  expect(canonicalOf(entry)).toBe(canonicalize(entry))
})
