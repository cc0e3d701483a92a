import { type ConfigField, shapesOf } from '@skerry/contract/fields'
import { Failure, usage } from '../failure.ts'
import { askText, canAsk } from '../prompt.ts'

// The fields of a connection's config or a binding's destination, as the contract describes them: asked for one by one, or
// taken from the command line. Whether they make sense together is for the server to say, which names the field.

export interface Provider {
  tag: string
  label: string
  credential: string
  /** The schemas of a connection's config and of a binding's destination. */
  config: object
  destination: object
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

/** The values that a field lists. The values of a map are typed as JSON, so none is listed for it. */
export const choicesOf = ({ kind, choices }: Pick<ConfigField, 'kind' | 'choices'>): readonly string[] =>
  kind === 'lists' ? [] : choices

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
  const known = shape.fields.map(({ path }) => path)
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
    const text = given[field.path] ?? (await askField(field, option))
    if (text !== undefined && text !== '') read[field.path] = convert(field, text)
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
    given.kind ?? (await askField({ path: 'kind', kind: 'choice', description, required: true, choices }, option)) ?? ''
  const found = shapes.find((shape) => shape.kind === kind)
  if (found) return found
  throw usage(`kind: one of ${choices.join(', ')} expected`)
}

type Asked = Pick<ConfigField, 'path' | 'kind' | 'description' | 'required' | 'choices'>

async function askField(field: Asked, option: string): Promise<string | undefined> {
  const { path, description, required } = field
  if (!canAsk()) {
    if (!required) return undefined
    throw usage(`${path} is needed: ${description}`, `use ${option} ${path}=...`)
  }
  const choices = choicesOf(field)
  const of = choices.length === 0 ? '' : ` (${choices.join(', ')})`
  for (;;) {
    const text = (await askText(`${path}${of}: ${description}${required ? '' : ' Empty: left out.'}`)).trim()
    if (text !== '' || !required) return text
  }
}

/** Reads what was typed, as the kind of value that the field has. Several values are separated by commas. */
function convert({ path, kind, choices }: ConfigField, text: string): unknown {
  if (kind === 'yes-no') return parseYesNo(path, text)
  if (kind === 'number') return parseNumber(path, text)
  if (kind === 'numbers') return splitValues(text).map((one) => parseNumber(path, one))
  if (kind === 'some' || (kind === 'lines' && !choices.includes(text))) return splitValues(text)
  if (kind === 'lists') return parseJson(path, text)
  return text
}

const splitValues = (text: string) =>
  text
    .split(',')
    .filter(Boolean)
    .map((one) => one.trim())

function parseYesNo(name: string, text: string): boolean {
  const value = { true: true, yes: true, false: false, no: false }[text]
  if (value === undefined) throw usage(`${name} takes yes or no`)
  return value
}

function parseNumber(name: string, text: string): number {
  if (!/^\d{1,16}$/.test(text)) throw usage(`${name} takes whole numbers`)
  return Number(text)
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`${name} takes a JSON object`)
  }
}
