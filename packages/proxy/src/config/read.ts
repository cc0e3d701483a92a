/** An error in the settings, with its field: `forward.host[2].match: is no hostname`. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(place: string, problem: string) {
    super(place === '' ? problem : `${place}: ${problem}`)
  }
}

/** Reads one value, or refuses it with the name of its field. */
export type Read<T> = (value: unknown, place: string) => T

/** A key of a table. It is required unless `otherwise` is set. */
interface Field<T> {
  read: Read<T>
  otherwise?: { value: T }
}

export const needed = <T>(read: Read<T>): Field<T> => ({ read })
export const given = <T, D>(read: Read<T>, value: D): Field<T | D> => ({ read, otherwise: { value } })

type TableOf<F> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** Reads a table with known keys. The file writes them with underscores. An unknown key is an error. */
export const table = <F extends Record<string, Field<unknown>>>(fields: F): Read<TableOf<F>> =>
  tableOf(fields, underscored)

/** Like `table`, for an object whose keys are written as in the program. */
export const object = <F extends Record<string, Field<unknown>>>(fields: F): Read<TableOf<F>> =>
  tableOf(fields, (name) => name)

function tableOf<F extends Record<string, Field<unknown>>>(
  fields: F,
  keyOf: (name: string) => string,
): Read<TableOf<F>> {
  const keys = Object.entries(fields).map(([name, field]) => [name, keyOf(name), field] as const)
  const known = new Set(keys.map(([, key]) => key))
  return (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
      throw new ConfigError(place, 'must be a table')
    const extra = Object.keys(value).find((key) => !known.has(key))
    if (extra !== undefined) throw new ConfigError(below(place, extra), 'there is no such setting')
    const read = keys.map(([name, key, field]) => [
      name,
      readField(field, (value as Record<string, unknown>)[key], below(place, key)),
    ])
    return Object.fromEntries(read) as TableOf<F>
  }
}

function readField<T>({ read, otherwise }: Field<T>, value: unknown, place: string): T {
  if (value !== undefined) return read(value, place)
  if (otherwise) return otherwise.value
  throw new ConfigError(place, 'is missing')
}

const underscored = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const below = (place: string, key: string) => (place === '' ? key : `${place}.${key}`)

export const list =
  <T>(read: Read<T>): Read<T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) throw new ConfigError(place, 'must be a list')
    return value.map((one, at) => read(one, `${place}[${at}]`))
  }

export const flag: Read<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw new ConfigError(place, 'must be true or false')
  return value
}

export const text: Read<string> = (value, place) => {
  if (typeof value !== 'string' || value.trim() === '') throw new ConfigError(place, 'must be text, and not empty')
  return value.trim()
}

export const whole =
  (least: number, most: number): Read<number> =>
  (value, place) => {
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most)
      throw new ConfigError(place, `must be a whole number from ${least} to ${most}`)
    return value as number
  }

export const oneOf =
  <const W extends string>(...words: W[]): Read<W> =>
  (value, place) => {
    const found = words.find((word) => word === value)
    if (found === undefined) throw new ConfigError(place, `must be one of ${words.join(', ')}`)
    return found
  }

/** Reads a text that matches a pattern. */
export const matching =
  (form: RegExp, otherwise: string): Read<string> =>
  (value, place) => {
    const found = text(value, place)
    if (!form.test(found)) throw new ConfigError(place, otherwise)
    return found
  }
