// Reads schemas of the contract for forms, prompts and the reference. Each of them asks for the values that a schema
// describes. This module imports no schema, so that clients can load it before they need one.

/** The parts of a JSON Schema that the contract uses. */
export interface Schema {
  type?: string
  description?: string | undefined
  const?: unknown
  enum?: string[]
  anyOf?: Schema[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  required?: string[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
}

interface Property {
  name: string
  schema: Schema
  required: boolean
}

/** The properties of an object schema, in its order. */
export const propertiesOf = ({ properties = {}, required = [] }: Schema): Property[] =>
  Object.entries(properties).map(([name, schema]) => ({ name, schema, required: required.includes(name) }))

/** A value that a person enters. */
export interface ConfigField {
  /** The path in the config: `connection.host`. */
  path: string
  /**
   * How a person enters the value. `lines` are several texts, `numbers` several numbers, `some` several of the choices.
   * `rows` are objects with some columns, and `lists` are several texts for each of several names.
   */
  kind: 'text' | 'long' | 'number' | 'yes-no' | 'choice' | 'some' | 'lines' | 'numbers' | 'rows' | 'lists'
  description: string
  required: boolean
  /** The values to choose from. In `lines` and `lists`, words that can be entered instead of several texts. */
  choices: string[]
  /** The names of the columns of `rows`. */
  columns: string[]
}

/** A text that may have more characters is entered on several lines. */
const lineCharacters = 1000

/**
 * Lists the fields of a config: of a lease target, a rotation, a sync connection or a sync destination. A property with
 * only one possible value is no field. The properties of an object inside are fields of their own, and are required
 * only if the object is required too.
 *
 * @example fieldsOf({ properties: { connection: { type: 'object', properties: { port: { type: 'integer' } } } } })
 * // [{ path: 'connection.port', kind: 'number', required: false, description: '', choices: [], columns: [] }]
 */
export function fieldsOf(schema: object, within = ''): ConfigField[] {
  return propertiesOf(schema).flatMap(({ name, schema: part, required }) => {
    const path = `${within}${name}`
    if (part.const !== undefined) return []
    if (part.type === 'object' && !part.patternProperties)
      return fieldsOf(required ? part : { ...part, required: [] }, `${path}.`)
    return [{ path, required, ...entryOf(part) }]
  })
}

function entryOf({ description = '', ...part }: Schema): Omit<ConfigField, 'path' | 'required'> {
  const [inner] = Object.values(part.patternProperties ?? {})
  const choices = choicesOf(inner ?? part.items ?? part)
  const columns = Object.keys(part.items?.properties ?? {})
  return { kind: kindOf(part, choices, columns), description, choices, columns }
}

const choicesOf = (part: Schema): string[] =>
  part.enum ?? part.anyOf?.flatMap((one) => (typeof one.const === 'string' ? [one.const] : [])) ?? []

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

/** A shape that a config can have. */
export interface Shape {
  /** The value of its property `kind`. Undefined for the only shape of a config without kinds. */
  kind: string | undefined
  schema: object
  fields: ConfigField[]
}

/**
 * Lists the shapes of a config. A union has one for each member, and any other schema has one.
 *
 * @example shapesOf({ anyOf: [{ properties: { kind: { const: 'org' } } }] }) // one shape, whose kind is 'org'
 */
export function shapesOf(schema: object): Shape[] {
  const { anyOf, properties } = schema as Schema
  if (anyOf) return anyOf.flatMap(shapesOf)
  const kind = properties?.kind?.const
  return [{ kind: typeof kind === 'string' ? kind : undefined, schema, fields: fieldsOf(schema) }]
}
