// The settings of a lease target, a rotation or a sync destination, whose fields are told by a schema of the contract: each field has its
// description there, and is checked by it. What is typed is kept as texts until it is checked.

interface Schema {
  type?: string
  const?: string
  enum?: string[]
  anyOf?: Schema[]
  items?: Schema
  patternProperties?: Record<string, Schema>
  properties?: Record<string, Schema>
  required?: string[]
  minimum?: number
  maximum?: number
  maxLength?: number
  description?: string
}

export interface ConfigField {
  /** Below the config: `connection.host`. */
  path: string
  /**
   * How its text is read: `lines` are one value each, `numbers` too, `some` are chosen ones, `rows` several with a space
   * between; in `lists` each row has a name and what belongs to it.
   */
  kind: 'text' | 'long' | 'number' | 'yes-no' | 'choice' | 'some' | 'lines' | 'numbers' | 'rows' | 'lists'
  description: string
  required: boolean
  /** Of a choice, and of some; of lines and lists, what stands alone in place of them. */
  choices: string[]
  /** Of rows. */
  columns: string[]
}

/** Texts by the last part of a field's path, in objects as the config has them. */
export interface Texts {
  [name: string]: string | Texts
}

/** Set by the form itself, not asked for. */
const unasked = ['executor', 'provisionerTokenId']

/** A text of more characters is written on several lines. */
const lineCharacters = 1000

/** The fields that a person fills in. What the schema allows one value for is none. */
export function fieldsOf(schema: object, within = ''): ConfigField[] {
  const { properties = {}, required = [] } = schema as Schema
  return Object.entries(properties).flatMap(([name, part]) => {
    const path = `${within}${name}`
    if (part.const !== undefined || unasked.includes(path)) return []
    if (part.type === 'object' && !part.patternProperties)
      return fieldsOf(required.includes(name) ? part : { ...part, required: [] }, `${path}.`)
    return [{ path, required: required.includes(name), ...shapeOf(part) }]
  })
}

function shapeOf({ description = '', ...part }: Schema): Omit<ConfigField, 'path' | 'required'> {
  const [inner] = Object.values(part.patternProperties ?? {})
  const choices = choicesOf(inner ?? (part.items ? part.items : part))
  const columns = Object.keys(part.items?.properties ?? {})
  return { kind: kindOf(part, choices, columns), description, choices, columns }
}

const choicesOf = (part: Schema): string[] => part.enum ?? part.anyOf?.flatMap((one) => one.const ?? []) ?? []

function kindOf(part: Schema, choices: string[], columns: string[]): ConfigField['kind'] {
  if (part.patternProperties) return 'lists'
  if (part.type === 'array') return columns.length > 0 ? 'rows' : listKind(part.items, choices)
  if (part.anyOf?.some(({ type }) => type === 'array')) return 'lines'
  if (part.type === 'integer') return 'number'
  if (part.type === 'boolean') return 'yes-no'
  if (choices.length > 0) return 'choice'
  return (part.maxLength ?? 0) >= lineCharacters ? 'long' : 'text'
}

const listKind = (items: Schema | undefined, choices: string[]) =>
  choices.length > 0 ? 'some' : items?.type === 'integer' ? 'numbers' : 'lines'

export function textAt(texts: Texts, path: string): string {
  const found = path.split('.').reduce<Texts | string | undefined>((at, name) => (at as Texts)?.[name], texts)
  return typeof found === 'string' ? found : ''
}

export function setAt(target: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.')
  const last = names.pop() as string
  let at = target
  for (const name of names) {
    at[name] ??= {}
    at = at[name] as Record<string, unknown>
  }
  at[last] = value
}

/** An empty text for each field. */
export function emptyTexts(fields: readonly ConfigField[]): Texts {
  const texts: Texts = {}
  for (const { path } of fields) setAt(texts, path, '')
  return texts
}

/** What was typed, as the config has it. An optional field that is empty is left out. */
export function configOf(fields: readonly ConfigField[], texts: Texts): Record<string, unknown> {
  const config: Record<string, unknown> = {}
  for (const field of fields) {
    const text = textAt(texts, field.path).trim()
    if (text !== '') setAt(config, field.path, readText(field, text))
  }
  return config
}

function readText({ kind, choices, columns }: ConfigField, text: string): unknown {
  if (kind === 'number') return Number(text)
  if (kind === 'yes-no') return text === 'yes'
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (kind === 'numbers') return lines.map(Number)
  if (kind === 'some') return lines
  if (kind === 'lines') return aloneIn(choices, lines)
  if (kind === 'lists') return Object.fromEntries(lines.map((line) => listOf(choices, line)))
  if (kind !== 'rows') return text
  return lines.map((line) => {
    const words = line.split(/\s+/)
    return Object.fromEntries(columns.map((column, i) => [column, words[i] ?? '']))
  })
}

/** The values, or the one word that stands in place of them. */
const aloneIn = (words: string[], values: string[]): string | string[] =>
  values.length === 1 && words.includes(values[0] ?? '') ? (values[0] ?? '') : values

function listOf(words: string[], line: string): [string, string | string[]] {
  const [name = '', ...values] = line.split(/\s+/)
  return [name, aloneIn(words, values)]
}

/** A config as it would be typed: `configOf` of it is the config again. Not for `rows`. */
export function textsOf(fields: readonly ConfigField[], config: object): Record<string, string> {
  const values = config as Record<string, unknown>
  return Object.fromEntries(fields.map(({ path }) => [path, typedText(values[path])]))
}

function typedText(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join('\n')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, list]) => [name, list].flat().join(' '))
    .join('\n')
}
