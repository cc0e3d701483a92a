/**
 * Converts values and rows, in the same way for both engines. Both engines speak PostgreSQL's text format, so one table
 * of parsers serves both. The conversions of the drivers (local-time Dates, bigint strings) are not used.
 */

const INT2 = 21
const INT4 = 23
const INT8 = 20
const OID = 26
const FLOAT4 = 700
const FLOAT8 = 701
const BOOL = 16
const BYTEA = 17
const JSON_TYPE = 114
const JSONB = 3802
const TIMESTAMPTZ = 1184

type Parse = (text: string) => unknown

const scalars = new Map<number, Parse>([
  [BOOL, (text) => text === 't'],
  [INT2, Number],
  [INT4, Number],
  [INT8, Number],
  [OID, Number],
  [FLOAT4, Number],
  [FLOAT8, Number],
  [JSON_TYPE, JSON.parse as Parse],
  [JSONB, JSON.parse as Parse],
  [TIMESTAMPTZ, instant],
  [BYTEA, (text) => Buffer.from(text.slice(2), 'hex')],
])

/** Array type to element type, for the types above and for those that stay text. */
const elements = new Map<number, number>([
  [1000, BOOL],
  [1001, BYTEA],
  [1005, INT2],
  [1007, INT4],
  [1016, INT8],
  [1028, OID],
  [1021, FLOAT4],
  [1022, FLOAT8],
  [199, JSON_TYPE],
  [3807, JSONB],
  [1185, TIMESTAMPTZ],
  [1009, 25], // text
  [1015, 1043], // varchar
  [1014, 1042], // char(n)
  [1003, 19], // name
  [2951, 2950], // uuid
  [1231, 1700], // numeric
  [1182, 1082], // date
  [1041, 869], // inet
])

const parsers = new Map<number, Parse>(scalars)
for (const [array, element] of elements) {
  const parse = scalars.get(element) ?? asIs
  parsers.set(array, (text) => parseArray(text, parse))
}

function asIs(text: string): unknown {
  return text
}

/** Returns the parser of a column type. Other types (text, uuid, numeric, date, ...) stay as PostgreSQL wrote them. */
export function parserOf(typeOid: number): Parse {
  return parsers.get(typeOid) ?? asIs
}

/** The parser for the SQL of libraries, which expect a Date as drivers return it. */
export function foreignParserOf(typeOid: number): Parse {
  return typeOid === TIMESTAMPTZ ? (text) => new Date(instant(text)) : parserOf(typeOid)
}

/**
 * Converts `2026-11-20 20:12:33.5+00` to `2026-11-20T20:12:33.500Z`. Sessions run in UTC, so slicing is enough, and it
 * is several times cheaper than a Date. Unusual values (another offset, infinity, years beyond four digits) are parsed
 * as a Date.
 */
function instant(text: string): string {
  const end = text.length - 3
  if (text.charCodeAt(10) !== 32 || !text.endsWith('+00') || end < 19) return unusualInstant(text)
  if (end === 19) return `${text.slice(0, 10)}T${text.slice(11, 19)}.000Z`
  if (end >= 23) return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
  return `${text.slice(0, 10)}T${text.slice(11, end).padEnd(12, '0')}Z`
}

function unusualInstant(text: string): string {
  const offset = /[+-]\d\d$/.test(text) ? ':00' : ''
  const date = new Date(text.replace(' ', 'T') + offset)
  return Number.isNaN(date.getTime()) ? text : date.toISOString()
}

/** Parses PostgreSQL's array literal: `{a,"b \"c\"",NULL,{nested}}`. */
function parseArray(text: string, parse: Parse): unknown[] {
  let at = text.indexOf('{') + 1 // skips explicit bounds such as [0:2]=
  const array = (): unknown[] => {
    const items: unknown[] = []
    while (at < text.length) {
      const char = text[at]
      if (char === '}') {
        at++
        return items
      }
      if (char === ',') at++
      else if (char === '{') {
        at++
        items.push(array())
      } else items.push(char === '"' ? parse(quoted()) : bare())
    }
    return items
  }
  const quoted = (): string => {
    let value = ''
    for (at++; text[at] !== '"'; at++) value += text[at] === '\\' ? text[++at] : text[at]
    at++
    return value
  }
  const bare = (): unknown => {
    const start = at
    while (at < text.length && text[at] !== ',' && text[at] !== '}') at++
    const value = text.slice(start, at)
    return value === 'NULL' ? null : parse(value)
  }
  return array()
}

const camelNames = new Map<string, string>()

/** Converts `created_at` to `createdAt`. Each name is converted once per process, not once per row. */
export function camel(column: string): string {
  let name = camelNames.get(column)
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, char: string) => char.toUpperCase())
    camelNames.set(column, name)
  }
  return name
}

export interface TextRows {
  shape: { keys: readonly string[]; parsers: readonly Parse[] }
  values: readonly (readonly (string | null)[])[]
}

export function toRows<Row>({ shape: { keys, parsers }, values }: TextRows): Row[] {
  return values.map((texts) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < keys.length; i++) {
      const text = texts[i] as string | null
      row[keys[i] as string] = text === null ? null : (parsers[i] as Parse)(text)
    }
    return row as Row
  })
}

export type Bound = string | Buffer | null

/**
 * Converts a value to PostgreSQL's text format (bytes to binary). An array becomes a PostgreSQL array, a plain object
 * becomes JSON. For a JSON column that may hold an array, a string or a number, pass `JSON.stringify(value)`.
 */
function bind(value: unknown): Bound {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return arrayLiteral(value)
  if (typeof value === 'object') return JSON.stringify(value)
  throw new TypeError(`A ${typeof value} cannot be a value in SQL`)
}

export function bindAll(values: readonly unknown[] = []): Bound[] {
  return values.map(bind)
}

function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(arrayItem).join(',')}}`
}

function arrayItem(value: unknown): string {
  if (Array.isArray(value)) return arrayLiteral(value)
  const bound = bind(value)
  if (bound === null) return 'NULL'
  if (typeof bound !== 'string') return `"\\\\x${bound.toString('hex')}"`
  return `"${bound.replace(/[\\"]/g, '\\$&')}"`
}
