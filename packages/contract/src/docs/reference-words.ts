import { auditActions } from '../actions.ts'
import { propertiesOf, type Schema } from '../fields.ts'
import { type BlobPrefix, blobKinds, blobPattern, type IdKind, idPattern, idPrefixes } from '../prefixes.ts'
import * as shared from '../schema.ts'

/** One field of a body, or one parameter. Text in backquotes is code. */
export interface Field {
  /** The name with its path: `grants[].principalId`. */
  name: string
  type: string
  required: boolean
  note: string
}

/**
 * Describes the values that a schema accepts.
 *
 * @example typeWords(shared.Id('environment')) // 'id `env_...`'
 */
export function typeWords(schema: Schema): string {
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.enum) return alternatives(schema.enum.map((value) => `\`${value}\``))
  if (schema.anyOf) return alternatives(schema.anyOf.map(typeWords))
  if (schema.type === 'string') return stringWords(schema)
  if (schema.type === 'integer') return `integer${range(schema.minimum, schema.maximum, '')}`
  if (schema.type === 'array' && schema.items)
    return `list of ${typeWords({ description: schema.description, ...schema.items })}${range(undefined, schema.maxItems, '')}`
  return schema.type ?? 'any'
}

const alternatives = (words: string[]) =>
  words.length < 3 ? words.join(' or ') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (max === undefined) return min === undefined || unit !== '' ? '' : `, at least ${min}`
  const most = max.toLocaleString('en-US')
  return min ? `, ${min.toLocaleString('en-US')} to ${most}${unit}` : `, at most ${most}${unit}`
}

function stringWords({ pattern, minLength, maxLength, description }: Schema): string {
  const kind =
    pattern === undefined ? 'text' : (patternWords(pattern) ?? (description ? 'text' : `text like \`${pattern}\``))
  return kind + range(minLength, maxLength, ' characters')
}

const idKinds = new Map((Object.keys(idPrefixes) as IdKind[]).map((kind) => [idPattern(kind), kind]))

const knownPatterns = new Map([
  [patternOf(shared.Instant), 'instant'],
  [patternOf(shared.GivenInstant), 'instant, RFC 3339'],
  [patternOf(shared.Slug), 'slug'],
  [patternOf(shared.SecretName), 'secret name'],
  [patternOf(shared.DisplayName), 'text without control characters'],
  [patternOf(shared.Email), 'e-mail address'],
  [patternOf(shared.PublicKeyJwk), 'printable ASCII'],
  ['^[\\u0020-\\u007e]*$', 'printable ASCII'],
  ['^[A-Za-z0-9_]+$', 'letters, digits and `_`'],
  ['^[A-Za-z0-9_-]+$', 'letters, digits, `_` and `-`'],
  ['^[A-Za-z0-9_-]*$', 'letters, digits, `_` and `-`'],
])

/**
 * Returns the pattern of a schema that has one. The TypeBox type of a string does not show it.
 *
 * @example patternOf(shared.Id('group')) // '^grp_[0-9A-Za-z]{22}$'
 */
export function patternOf(schema: unknown): string {
  return (schema as Schema).pattern as string
}

/**
 * Describes a known pattern. Undefined for any other: a schema's own description, or else the pattern's text, is then
 * shown.
 */
function patternWords(pattern: string): string | undefined {
  const known = knownPatterns.get(pattern)
  if (known) return known
  const id = idKinds.get(pattern)
  if (id) return `id \`${idPrefixes[id]}...\``
  const blobs = blobsOf(pattern)
  if (blobs.length > 0) return `blob ${alternatives(blobs.map((prefix) => `\`${prefix}.\``))}`
  return namesIn(pattern)
}

/**
 * Returns the blob prefixes that a pattern accepts; none if it is not a pattern of blobs.
 *
 * @example blobsOf(patternOf(shared.WrappedKey)) // ['wd1']
 */
export function blobsOf(pattern: string): BlobPrefix[] {
  const prefixes = (Object.keys(blobKinds) as BlobPrefix[]).filter((prefix) => pattern.includes(prefix))
  return blobPattern(...prefixes) === pattern ? prefixes : []
}

/** Describes a pattern that is a list of fixed names. The longest such list, the audit actions, has its own table. */
function namesIn(pattern: string): string | undefined {
  const list = /^\^\(\?:([\w.\\|]+)\)\$$/.exec(pattern)?.[1]
  if (!list) return undefined
  const names = list.replaceAll('\\.', '.').split('|')
  if (names.length === Object.keys(auditActions).length) return 'an audit action'
  return alternatives(names.map((name) => `\`${name}\``))
}

/**
 * Lists the fields of an object as rows of the reference, including the fields of objects inside it.
 *
 * @example rowsOf(apps.create.body).map(({ name }) => name) // ['name', 'slug']
 */
export function rowsOf(object: Schema, at = ''): Field[] {
  return propertiesOf(object).flatMap(({ name, schema, required }) => {
    const row = { name: at + name, type: typeWords(schema), required, note: noteOf(schema) }
    if (schema.properties) return [row, ...rowsOf(schema, `${at}${name}.`)]
    return schema.items?.properties ? [row, ...rowsOf(schema.items, `${at}${name}[].`)] : [row]
  })
}

const noteOf = (schema: Schema): string =>
  schema.description ?? blobNote(schema) ?? schema.anyOf?.map(noteOf).find((note) => note !== '') ?? ''

/** Says what is in a blob, without its segments: "A key, encrypted with the public key of its recipient". */
function blobNote({ pattern = '' }: Schema): string | undefined {
  const [prefix, ...others] = blobsOf(pattern)
  if (prefix === undefined || others.length > 0) return undefined
  const [what = ''] = blobKinds[prefix].what.split(':')
  return what.charAt(0).toUpperCase() + what.slice(1)
}
