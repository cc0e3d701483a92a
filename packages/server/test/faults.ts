import { givenInstantPattern, instantPattern } from '@skerry/contract/patterns'
import { bearerSecret } from './blobs.ts'

/** The keywords of a JSON schema that are used to make faults. */
export interface Schema {
  type?: string
  anyOf?: Schema[]
  const?: unknown
  pattern?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  patternProperties?: unknown
  additionalProperties?: unknown
}

/** Whether a field is an instant. */
export const isInstantField = ({ pattern, anyOf = [] }: Schema): boolean =>
  anyOf.some(isInstantField) || [instantPattern, givenInstantPattern].includes(pattern ?? '')

/** Well-formed instants that do not exist, or that are too early for the database or for a time span before them. */
export const strayInstants = [
  '0000-01-01T00:00:00.000Z',
  '0001-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2026-02-30T00:00:00.000Z',
]

/** The description of a fault, and a value with that fault as JSON text. */
export type Fault = [what: string, json: string]

const json = (faults: [string, unknown][]): Fault[] => faults.map(([what, value]) => [what, JSON.stringify(value)])

/** Returns wrong values for a field of this schema. `sample` is a valid value. */
export function faultsOf(schema: Schema, sample: unknown): Fault[] {
  const nullable = schema.anyOf?.some((one) => one.type === 'null') ?? false
  const rest = (schema.anyOf ?? [schema]).filter((one) => one.type !== 'null')
  const inner = rest[0] as Schema
  const nulls: Fault[] = nullable ? [] : [['null', 'null']]
  if (inner.type === 'integer') return [...nulls, ...numberFaults(inner)]
  if (inner.type === 'array') return [...nulls, ...arrayFaults(inner, sample as unknown[])]
  if (inner.type === 'boolean') return [...nulls, ...booleanFaults]
  if (inner.patternProperties) return [...nulls, ...mapFaults(sample as Record<string, unknown>)]
  if (inner.type === 'object' && inner.additionalProperties !== false) return [...nulls, ...openObjectFaults]
  if (inner.type === 'object') return [...nulls, ...objectFaults(sample as Record<string, unknown>)]
  return [...nulls, ...stringFaults(inner, sample as string)]
}

function numberFaults({ minimum, maximum }: Schema): Fault[] {
  const beyond = [
    ['below the least', (minimum ?? 0) - 1],
    ['above the most', (maximum ?? 0) + 1],
  ] as [string, unknown][]
  const wrong = json([
    ...beyond,
    ['a number as text', '1'],
    ['a fraction', 1.5],
    ['true', true],
    ['{}', {}],
    ['[]', []],
  ])
  return [...wrong, ['too large for a number', '1e400'], ['negative', '-1'], ['huge', '9007199254740993']]
}

const booleanFaults = json([
  ['a number', 1],
  ['a text', 'true'],
  ['an object', {}],
  ['an array', [true]],
])

function objectFaults(sample: Record<string, unknown>): Fault[] {
  return json([
    ['an array', [sample]],
    ['a text', 'x'],
    ['a number', 1],
    ['true', true],
    ['an unknown field in it', { ...sample, unknown: 1 }],
    ...Object.keys(sample).map((name): [string, unknown] => [`an object as ${name}`, { ...sample, [name]: {} }]),
  ])
}

const mapFaults = (sample: Record<string, unknown>): Fault[] =>
  Object.values(sample).some((value) => typeof value === 'string') ? headersFaults : versionsFaults

/** Faults of a map of headers by name. */
const headersFaults = json([
  ['a text', 'x'],
  ['a number', 1],
  ['an array', []],
  ['a value that is none', { name: 0 }],
  ['a value of two lines', { name: 'a\nb' }],
  ['a name that is none', { 'no name': 'a' }],
  ['a name that is too long', { ['n'.repeat(101)]: 'a' }],
])

/** Faults of a map of versions by name. */
const versionsFaults = json([
  ['a text', 'x'],
  ['a number', 1],
  ['an array', []],
  ['a version that is none', { NAME: 0 }],
  ['a version as text', { NAME: '1' }],
  ['a name that is none', { 'no name': 1 }],
  ['a name that is too long', { ['N'.repeat(256)]: 1 }],
])

/** Faults of an object whose schema allows any field. */
const openObjectFaults = json([
  ['a text', 'x'],
  ['a number', 1],
  ['true', true],
  ['an array', [{}]],
  ['empty', {}],
])

function arrayFaults({ maxItems = 0 }: Schema, sample: unknown[]): Fault[] {
  const [first] = sample as (Record<string, unknown> | string)[]
  return json([
    ['an object', {}],
    ['a text', 'x'],
    ['a number', 1],
    ['null in it', [null]],
    typeof first === 'string' ? ['a number in it', [1]] : ['a text in it', ['x']],
    ['an array in it', [[first]]],
    ['an empty object in it', [{}]],
    ['an unknown field in it', [{ ...(first as object), unknown: 1 }]],
    ['too many', Array.from({ length: maxItems + 1 }, () => first)],
  ])
}

function stringFaults(schema: Schema, sample: string): Fault[] {
  const middle = Math.floor(sample.length / 2)
  const within = (text: string) => sample.slice(0, middle) + text + sample.slice(middle)
  const faults: [string, unknown][] = [
    ['a number', 1],
    ['true', true],
    ['an object', { a: sample }],
    ['an array', [sample]],
    ['over-long', sample + 'a'.repeat(schema.maxLength ?? 300)],
    ['a NUL in it', within('\u0000')],
    ['an escape in it', within('\u001b[2J')],
    ['a lone high surrogate in it', within('\ud800')],
    ['a lone low surrogate in it', within('\udfff')],
  ]
  const takes = (text: string) => schema.pattern !== undefined && new RegExp(schema.pattern, 'u').test(text)
  if (!takes('')) faults.push(['empty', ''])
  if (!takes('a\nb')) faults.push(['a line break in it', within('\n')], ['a line break at its end', `${sample}\n`])
  return json(faults)
}

/** Malformed variants of an opaque blob. */
export function blobFaults(sample: string): Fault[] {
  const [prefix, ...segments] = sample.split('.') as [string, ...string[]]
  return json([
    ['another version', ['wd9', ...segments].join('.')],
    ['another kind', [prefix === 'sc1' ? 'wd1' : 'sc1', ...segments].join('.')],
    ['an upper-case prefix', [prefix.toUpperCase(), ...segments].join('.')],
    ['no prefix', segments.join('.')],
    ['the prefix alone', `${prefix}.`],
    ['a segment too few', [prefix, ...segments.slice(1)].join('.')],
    ['a segment too many', [sample, bearerSecret()].join('.')],
    ['an empty segment', [prefix, '', ...segments.slice(1)].join('.')],
    ['padding', `${sample}=`],
    ['the other alphabet', `${sample}+/`],
    ['a space before it', ` ${sample}`],
    ['plain text', 'hunter2'],
  ])
}

const jwk = { kty: 'EC', crv: 'P-256', x: bearerSecret(), y: bearerSecret() }

/** Wrong values of fields with a format of their own, by the name of the field. */
export const formFaults: Record<string, [string, unknown][]> = {
  slug: ['UPPER', '-a', 'a-', 'a b', 'ä', 'a.b', 'a/b', '-', 'a'.repeat(64)].map((text) => [text, text]),
  email: ['a', 'a@', '@b.c', 'a b@c.d', 'a@b', 'a@b@c.d', 'a@.', 'a@b.c d'].map((text) => [text, text]),
  expiresAt: [
    '2090-02-30T00:00:00.000Z',
    '2090-13-01T00:00:00.000Z',
    '2090-01-01T25:00:00.000Z',
    '2090-01-01T00:00:60.000Z',
    '0000-01-01T00:00:00.000Z',
    '2090-01-01T00:00:00',
    '2090-01-01 00:00:00Z',
    '2090-01-01T00:00:00.000+24:00',
    '2090-01-01',
    '1999-01-01T00:00:00.000Z',
    '+012090-01-01T00:00:00.000Z',
  ].map((text) => [text, text]),
  role: ['owner', 'ADMIN', 'superuser'].map((text) => [text, text]),
  principalType: ['m2m', 'User', 'rotator'].map((text) => [text, text]),
  tokenHash: ['a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}=`].map((text) => [text, text]),
  publicKeyJwk: [
    ['no JSON', '{'],
    ['no object', '[]'],
    ['nothing in it', '{}'],
    ['a private key', JSON.stringify({ ...jwk, d: bearerSecret() })],
    ['another curve', JSON.stringify({ ...jwk, crv: 'P-384' })],
    ['another kind', JSON.stringify({ ...jwk, kty: 'RSA' })],
    ['a short coordinate', JSON.stringify({ ...jwk, x: bearerSecret().slice(1) })],
    ['a number as coordinate', JSON.stringify({ ...jwk, x: 1 })],
    ['an object instead of text', jwk],
    ['depth', '['.repeat(500) + ']'.repeat(500)],
  ],
}
formFaults.orgSlug = formFaults.slug as [string, unknown][]
