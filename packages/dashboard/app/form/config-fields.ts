import type { ConfigField } from '@skerry/contract/fields'

// The settings of a lease target, a rotation or a sync destination. A form keeps them as text until they are checked.

/** Typed texts, nested like the config. */
export interface Texts {
  [name: string]: string | Texts
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

/** Returns an empty text for each field. */
export function emptyTexts(fields: readonly ConfigField[]): Texts {
  const texts: Texts = {}
  for (const { path } of fields) setAt(texts, path, '')
  return texts
}

/** Converts typed texts to a config. It leaves out empty optional fields. */
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

/** Returns the list of values, or a single word if it is a choice that replaces the list. */
const aloneIn = (words: string[], values: string[]): string | string[] =>
  values.length === 1 && words.includes(values[0] ?? '') ? (values[0] ?? '') : values

function listOf(words: string[], line: string): [string, string | string[]] {
  const [name = '', ...values] = line.split(/\s+/)
  return [name, aloneIn(words, values)]
}

/** Converts a config to the texts that a person would type. `configOf` converts them back. Does not support `rows`. */
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
