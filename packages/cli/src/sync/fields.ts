import { type ConfigField, shapesOf } from '@skerry/contract/fields'
import type { SyncTag } from '@skerry/contract/sync/providers'
import { syncVendors, type Vendor } from '@skerry/contract/vendors'
import { Failure, usage } from '../failure.ts'
import { askText, canAsk } from '../prompt.ts'

// Reads the fields of a connection's config or a binding's destination, as the contract describes them. They come from
// the command line, or are asked for one by one. The server checks whether they fit together, and names the wrong
// field.

export interface Provider extends Vendor {
  tag: SyncTag
  credential: string
  /** The schemas of a connection's config and of a binding's destination. */
  config: object
  destination: object
}

/** Lists every kind of destination. The schemas are loaded here, because other commands do not need them. */
export async function listProviders(): Promise<Provider[]> {
  const { syncProviders } = await import('@skerry/contract/sync/providers')
  return (Object.keys(syncProviders) as SyncTag[])
    .map((tag) => ({ tag, ...syncVendors[tag], ...syncProviders[tag] }))
    .sort((one, other) => (one.slug < other.slug ? -1 : 1))
}

/** Finds a kind of destination by its tag. A newer server may have other kinds. */
export async function findProvider(wanted: string): Promise<Provider> {
  const found = (await listProviders()).find(({ tag }) => tag === wanted)
  if (found) return found
  throw new Failure('notFound', `this version of skerry does not know the provider ${wanted}`, 'install a newer one')
}

/** The values that a field accepts. A map is typed as JSON, so it has no list. */
export const choicesOf = ({ kind, choices }: Pick<ConfigField, 'kind' | 'choices'>): readonly string[] =>
  kind === 'lists' ? [] : choices

/** Adds a `field=value` option to the fields that were given before. */
export function gatherField(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1)
    throw usage(
      `'${text}' is not field=value`,
      'write the field, an equals sign and the value, for example repository=shop',
    )
  const name = text.slice(0, at)
  if (Object.hasOwn(before, name)) throw usage(`${name} is given twice`)
  return { ...before, [name]: text.slice(at + 1) }
}

/**
 * Returns the fields in the form that the API takes. On a terminal it asks for fields that were not given. Without a
 * terminal, a missing required field is an error that names the field and its option.
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
      `${what === 'config' ? 'a connection' : 'a destination'} of ${provider.name} has no ${stranger ?? 'kind'}`,
      fields,
    )
  }
  const read: Record<string, unknown> = {
    provider: provider.tag,
    ...(shape.kind === undefined ? {} : { kind: shape.kind }),
  }
  for (const field of shape.fields) {
    const text = given[field.path] ?? (await askField(field, option, provider.slug))
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
  const description = 'Kind of the destination. The other fields depend on the kind.'
  const kind =
    given.kind ??
    (await askField({ path: 'kind', kind: 'choice', description, required: true, choices }, option, provider.slug)) ??
    ''
  const found = shapes.find((shape) => shape.kind === kind)
  if (found) return found
  throw usage(`${option} kind=${kind} is none of the kinds of ${provider.name}`, `use ${choices.join(', ')}`)
}

type Asked = Pick<ConfigField, 'path' | 'kind' | 'description' | 'required' | 'choices'>

async function askField(field: Asked, option: string, provider: string): Promise<string | undefined> {
  const { path, description, required } = field
  const choices = choicesOf(field)
  if (!canAsk()) {
    if (!required) return undefined
    const values = choices.length === 0 ? '...' : `<${choices.join('|')}>`
    throw usage(
      `${path} is needed: ${description.replace(/\.$/, '')}`,
      `use ${option} ${path}=${values}; \`skerry sync providers ${provider}\` shows all fields`,
    )
  }
  const of = choices.length === 0 ? '' : ` (${choices.join(', ')})`
  for (;;) {
    const text = (await askText(`${path}${of}: ${description}${required ? '' : ' Empty: left out.'}`)).trim()
    if (text !== '' || !required) return text
  }
}

/** Converts the typed text to the kind of value that the field has. Commas separate several values. */
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
  if (value === undefined) throw usage(`${name} must be yes or no (you gave '${text}')`)
  return value
}

function parseNumber(name: string, text: string): number {
  if (!/^\d{1,16}$/.test(text)) throw usage(`${name} must be a whole number (you gave '${text}')`)
  return Number(text)
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`${name} takes a JSON object`)
  }
}
