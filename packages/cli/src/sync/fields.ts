import { Failure, usage } from '../failure.ts'
import { askText, canAsk } from '../prompt.ts'

// The fields of a connection's config or a binding's destination, as the contract describes them: asked for one by one, or
// taken from the command line. Whether they make sense together is for the server to say, which names the field.

/** As much of a JSON schema as fields of destinations have. */
interface Schema {
  type?: string
  const?: string
  enum?: readonly string[]
  description?: string
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
}

export interface Field {
  name: string
  description: string
  required: boolean
  choices: readonly string[]
  schema: Schema
}

export interface Provider {
  tag: string
  label: string
  credential: string
  config: Schema
  destination: Schema
}

/** Every kind of destination. Loads the schemas, which commands other than these do without. */
export async function listProviders(): Promise<Provider[]> {
  const { syncProviders } = await import('@skerry/contract/sync/providers')
  return Object.entries(syncProviders)
    .map(([tag, row]) => ({ tag, ...(row as unknown as Omit<Provider, 'tag'>) }))
    .sort((one, other) => (one.tag < other.tag ? -1 : 1))
}

/** By its tag, or by what people call it. */
export async function findProvider(wanted: string): Promise<Provider> {
  const named = wanted.toLowerCase()
  const found = (await listProviders()).find(({ tag, label }) => tag === named || label.toLowerCase() === named)
  if (found) return found
  throw new Failure('notFound', `there is no kind of destination '${wanted}'`, 'see `skerry sync providers`')
}

/** The shapes that a destination may have, each with what its `kind` is; most have one. */
export function shapesOf({ properties, anyOf, required }: Schema): { kind: string | undefined; fields: Field[] }[] {
  if (anyOf) return anyOf.flatMap(shapesOf)
  const kind = properties?.kind?.const
  const fields = Object.entries(properties ?? {}).filter(([name]) => name !== 'provider' && name !== 'kind')
  return [{ kind, fields: fields.map(([name, schema]) => fieldOf(name, schema, required?.includes(name) ?? false)) }]
}

const fieldOf = (name: string, schema: Schema, required: boolean): Field => ({
  name,
  description: schema.description ?? '',
  required,
  choices: choicesOf(schema),
  schema,
})

const choicesOf = ({ anyOf = [], enum: values, items }: Schema): readonly string[] =>
  values ?? (items ? choicesOf(items) : anyOf.flatMap((one) => (one.const === undefined ? [] : [one.const])))

/** `field=value` of a command line -> by field, as it was typed. */
export function gatherField(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw usage(`'${text}' is not field=value`)
  const name = text.slice(0, at)
  if (Object.hasOwn(before, name)) throw usage(`${name} is given twice`)
  return { ...before, [name]: text.slice(at + 1) }
}

/**
 * The fields as the API takes them: what was given, and on a terminal what is asked for. Elsewhere one that is needed and was
 * not given is refused by its name, with the option that takes it.
 */
export async function readFields(
  provider: Provider,
  what: 'config' | 'destination',
  given: Readonly<Record<string, string>>,
  option: string,
): Promise<Record<string, unknown> & { provider: never }> {
  const shape = await chooseShape(provider, what, given, option)
  const known = shape.fields.map(({ name }) => name)
  const stranger = Object.keys(given).find((name) => name !== 'kind' && !known.includes(name))
  if (stranger !== undefined || (given.kind !== undefined && shape.kind === undefined)) {
    const fields = known.length === 0 ? 'it has no fields' : `its fields: ${known.join(', ')}`
    throw usage(
      `${what === 'config' ? 'a connection' : 'a destination'} of ${provider.tag} has no ${stranger ?? 'kind'}`,
      fields,
    )
  }
  const read: Record<string, unknown> = {
    provider: provider.tag,
    ...(shape.kind === undefined ? {} : { kind: shape.kind }),
  }
  for (const field of shape.fields) {
    const text = given[field.name] ?? (await askField(field, option))
    if (text !== undefined && text !== '') read[field.name] = convert(field.name, field.schema, text)
  }
  return read as Record<string, unknown> & { provider: never }
}

async function chooseShape(
  provider: Provider,
  what: 'config' | 'destination',
  given: Readonly<Record<string, string>>,
  option: string,
) {
  const shapes = shapesOf(provider[what])
  const [only, ...others] = shapes
  if (only !== undefined && others.length === 0) return only
  const choices = shapes.flatMap(({ kind }) => kind ?? [])
  const description = 'What the destination is; it says which of the other fields belong to it.'
  const kind =
    given.kind ?? (await askField({ name: 'kind', description, required: true, choices, schema: {} }, option)) ?? ''
  const found = shapes.find((shape) => shape.kind === kind)
  if (found) return found
  throw usage(`kind: one of ${choices.join(', ')} expected`)
}

async function askField({ name, description, required, choices }: Field, option: string): Promise<string | undefined> {
  if (!canAsk()) {
    if (!required) return undefined
    throw usage(`${name} is needed: ${description}`, `use ${option} ${name}=...`)
  }
  const of = choices.length === 0 ? '' : ` (${choices.join(', ')})`
  for (;;) {
    const text = (await askText(`${name}${of}: ${description}${required ? '' : ' Empty: left out.'}`)).trim()
    if (text !== '' || !required) return text
  }
}

/** What was typed, as the kind of value that the field has. */
function convert(name: string, schema: Schema, text: string): unknown {
  const { type, anyOf = [], items = {} } = schema
  if (type === 'boolean') {
    const value = { true: true, yes: true, false: false, no: false }[text]
    if (value === undefined) throw usage(`${name} takes yes or no`)
    return value
  }
  if (type === 'integer') {
    if (!/^\d{1,16}$/.test(text)) throw usage(`${name} takes whole numbers`)
    return Number(text)
  }
  if (type === 'array')
    return text
      .split(',')
      .filter(Boolean)
      .map((one) => convert(name, items, one.trim()))
  if (type === 'object') return parseJson(name, text)
  const list = anyOf.find((one) => one.type === 'array')
  return list && !anyOf.some((one) => one.const === text) ? convert(name, list, text) : text
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`${name} takes a JSON object`)
  }
}
