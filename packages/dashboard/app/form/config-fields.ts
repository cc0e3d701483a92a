// The settings of a lease target or of a rotation, whose fields are told by a schema of the contract: each field has its
// description there, and is checked by it. What is typed is kept as texts until it is checked.

interface Schema {
  type?: string
  const?: string
  enum?: string[]
  anyOf?: { const: string }[]
  items?: Schema
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
  /** How its text is read: `lines` are one value each, `rows` several with a space between. */
  kind: 'text' | 'long' | 'number' | 'choice' | 'lines' | 'rows'
  description: string
  required: boolean
  /** Of a choice. */
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
    if (part.type === 'object') return fieldsOf(required.includes(name) ? part : { ...part, required: [] }, `${path}.`)
    return [{ path, required: required.includes(name), ...shapeOf(part) }]
  })
}

function shapeOf({ description = '', ...part }: Schema): Omit<ConfigField, 'path' | 'required'> {
  const choices = part.enum ?? part.anyOf?.map((one) => one.const) ?? []
  const columns = Object.keys(part.items?.properties ?? {})
  return { kind: kindOf(part, columns), description, choices, columns }
}

function kindOf(part: Schema, columns: string[]): ConfigField['kind'] {
  if (part.type === 'array') return columns.length > 0 ? 'rows' : 'lines'
  if (part.type === 'integer') return 'number'
  if (part.enum || part.anyOf) return 'choice'
  return (part.maxLength ?? 0) >= lineCharacters ? 'long' : 'text'
}

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

function readText({ kind, columns }: ConfigField, text: string): unknown {
  if (kind === 'number') return Number(text)
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (kind === 'lines') return lines
  if (kind !== 'rows') return text
  return lines.map((line) => {
    const words = line.split(/\s+/)
    return Object.fromEntries(columns.map((column, i) => [column, words[i] ?? '']))
  })
}
