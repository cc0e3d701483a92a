import { referencesIn } from '@skerry/crypto/references'
import { Failure, usage } from '../failure.ts'
import { checkWritable, type Overwriting, writeNamed } from '../files.ts'
import type { AtPlace } from '../frame.ts'
import { readTextFile } from '../input.ts'
import { checkSecretName } from '../names.ts'
import { note, showsValues, writeData } from '../output.ts'
import { select } from '../selection.ts'
import type { Flags } from '../settings.ts'
import { count } from '../units.ts'
import { viewValues } from './values.ts'

interface Options extends Flags, Overwriting {
  out?: string
  reveal?: boolean
  with?: string[]
  except?: string[]
  liquid?: boolean
}

/** A text with places for values, which has been read without a mistake. */
interface Template {
  /** The names that it refers to. Null if it lists all secrets. */
  names: readonly string[] | null
  fill: (values: ReadonlyMap<string, string>, label: string) => string
}

/** Fills a text with values, by the same rules as a secret that refers to others. */
export async function substitute(
  _path: string,
  { session, flags, place, input: { file, template } }: AtPlace<Options, typeof parseSubstitute>,
): Promise<void> {
  const viewed = await viewValues(session, place, { with: flags.with })
  const isThere = (name: string) => viewed.values[name] !== undefined || viewed.unexpanded.has(name)
  const values = select(viewed, template.names === null ? {} : { only: template.names.filter(isThere) })
  const filled = template.fill(values, place.label)
  if (file === undefined) return writeData(filled)
  writeNamed(file, filled, { force: flags.force })
  note(`wrote ${file} with ${count(values.size, 'value')} of ${place.label}, readable by you alone`)
}

export async function parseSubstitute(flags: Options, path: string): Promise<{ file?: string; template: Template }> {
  const file = flags.out === '-' ? undefined : flags.out
  if (file === undefined && !showsValues(flags)) {
    throw usage('values are not shown on a terminal', 'send them to a file with --out or >, or add --reveal')
  }
  checkWritable(file, flags)
  const text = readTextFile(path)
  const except = (flags.except ?? []).map(checkSecretName)
  if (flags.liquid && except.length > 0) throw usage('--except is for templates with ${NAME}, not for --liquid')
  const template = flags.liquid
    ? (await import('./liquid.ts')).parseLiquid(text, path === '-' ? 'stdin' : path)
    : plainTemplate(text, path, except)
  return { ...(file === undefined ? {} : { file }), template }
}

function plainTemplate(text: string, path: string, except: readonly string[]): Template {
  if (path.endsWith('.liquid') || /\{\{|\{%/.test(text))
    note(`${path} is filled as a plain text with \${NAME}. Did you mean a Liquid template? Then add --liquid`)
  const names = referencesIn(text).filter((name) => !except.includes(name))
  return {
    names,
    fill: (values, label) => {
      const missing = names.filter((name) => !values.has(name))
      if (missing.length === 0) return fill(text, values)
      const next = `set them, or keep them as text with --except ${missing.join(',')}`
      throw new Failure('notFound', `${label} has no ${missing.join(', ')}, which ${path} refers to`, next)
    },
  }
}

/** Inserts the values as text. Their references have already been expanded. */
function fill(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name) =>
    name === undefined ? '${' : (values.get(name) ?? whole),
  )
}
