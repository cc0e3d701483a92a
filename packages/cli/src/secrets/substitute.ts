import { referencesIn } from '@skerry/crypto/references'
import { Failure, usage } from '../failure.ts'
import { checkWritable, type Overwriting, writeNamed } from '../files.ts'
import type { AtPlace } from '../frame.ts'
import { readTextFile } from '../input.ts'
import { checkSecretName } from '../names.ts'
import { note, showsValues, writeData } from '../output.ts'
import { select } from '../selection.ts'
import type { Flags } from '../settings.ts'
import { viewValues } from './values.ts'

interface Options extends Flags, Overwriting {
  out?: string
  reveal?: boolean
  with?: string[]
  except?: string[]
}

/** Fills a text with values, by the same rules as a secret that refers to others. */
export async function substitute(
  template: string,
  { session, flags, place, input: { file, text, names } }: AtPlace<Options, typeof parseSubstitute>,
): Promise<void> {
  const viewed = await viewValues(session, place, { with: flags.with })
  const there = names.filter((name) => viewed.values[name] !== undefined || viewed.unexpanded.has(name))
  const missing = names.filter((name) => !there.includes(name))
  if (missing.length > 0) {
    const next = `set them, or keep them as text with --except ${missing.join(',')}`
    throw new Failure('notFound', `${place.label} has no ${missing.join(', ')}, which ${template} refers to`, next)
  }
  const unexpanded = new Map([...viewed.unexpanded].filter(([name]) => there.includes(name)))
  const expanded = Object.entries(viewed.values).filter(([name]) => there.includes(name))
  const filled = fill(text, select({ values: Object.fromEntries(expanded), unexpanded }, {}))
  if (file === undefined) return writeData(filled)
  writeNamed(file, filled, { force: flags.force })
  note(`wrote ${file} with ${names.length} values of ${place.label}, readable by you alone`)
}

export function parseSubstitute(flags: Options, template: string) {
  const file = flags.out === '-' ? undefined : flags.out
  if (file === undefined && !showsValues(flags)) {
    throw usage('values are not shown on a terminal', 'send them to a file with --out or >, or add --reveal')
  }
  checkWritable(file, flags)
  const text = readTextFile(template)
  for (const name of flags.except ?? []) checkSecretName(name)
  const names = referencesIn(text).filter((name) => !flags.except?.includes(name))
  return { file, text, names }
}

/** Inserts the values as text. Their references have already been expanded. */
function fill(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name) =>
    name === undefined ? '${' : (values.get(name) ?? whole),
  )
}
