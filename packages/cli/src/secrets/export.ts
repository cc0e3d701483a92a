import { loadingReason } from '@skerry/sdk/loading-names'
import { usage } from '../failure.ts'
import { writeNamed } from '../files.ts'
import type { ExportFormat } from '../formats/names.ts'
import { formatValues } from '../formats.ts'
import { note, showsValues, warn, writeData } from '../output.ts'
import { findPlace, namedPlace } from '../places.ts'
import { checkSelection, type Selection, select } from '../selection.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'
import { sorted, type View, viewValues } from './values.ts'

interface Options extends Flags, View, Selection {
  format?: ExportFormat
  out?: string
  reveal?: boolean
}

export async function exportValues(flags: Options): Promise<void> {
  const file = flags.out === '-' ? undefined : flags.out
  if (file === undefined && !showsValues(flags)) {
    throw usage('values are not shown on a terminal', 'send them to a file with --out or >, or add --reveal')
  }
  if (flags.json && flags.format !== undefined && flags.format !== 'json') {
    throw usage(`--json and --format ${flags.format} contradict each other`, 'leave one of them out')
  }
  checkSelection(flags)
  const format = flags.format ?? (flags.json ? 'json' : 'dotenv')
  const session = await openSession(flags)
  const place = await findPlace(session, namedPlace(session, flags))
  const viewed = await viewValues(session, place, flags)
  const values = sorted(select(viewed, flags))
  for (const name of viewed.unresolved) warn(`a value refers to ${name}, which does not exist`)
  const isStored = !flags.expand
  const { text, remarks } = formatValues(values, format, { isStored, name: place.label.replace(/[^a-z0-9-]/g, '-') })
  for (const remark of remarks) warn(remark)
  if (format === 'shell') warnSourced(values.keys())
  if (file === undefined) return writeData(text)
  writeNamed(file, text)
  note(`wrote ${values.size} values of ${place.label} to ${file}, readable by you alone`)
}

/** What `source` puts into a shell, every program that it starts gets: `run` would withhold these names. */
function warnSourced(names: Iterable<string>): void {
  for (const name of names) {
    const reason = loadingReason(name)
    if (reason !== undefined)
      warn(`a shell that sources this gives every program ${name}: ${reason}; --except ${name} leaves it out`)
  }
}
