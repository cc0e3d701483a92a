import { referencesIn } from '@skerry/crypto/references'
import { loadingReason } from '@skerry/sdk/loading-names'
import { usage } from '../failure.ts'
import { checkWritable, type Overwriting, writeNamed } from '../files.ts'
import type { ExportFormat, Values } from '../formats/names.ts'
import { formatValues } from '../formats.ts'
import type { AtPlace } from '../frame.ts'
import { note, showsValues, warn, writeData } from '../output.ts'
import { checkSelection, leaveOutHint, type Selection, select } from '../selection.ts'
import type { Flags } from '../settings.ts'
import { count } from '../units.ts'
import { hintStored, kindOf, sorted, type View, viewValues } from './values.ts'

interface Options extends Flags, View, Selection, Overwriting {
  format?: ExportFormat
  out?: string
  reveal?: boolean
}

export async function exportValues(
  _named: string | undefined,
  { session, flags, place, input: { file, isStored, format } }: AtPlace<Options, typeof parseExportValues>,
): Promise<void> {
  const viewed = await hintStored(viewValues(session, place, flags), session, place)
  const values = sorted(select(viewed, flags))
  for (const name of viewed.unresolved) warn(`a value refers to ${name}, which does not exist`)
  const { text, remarks } = formatValues(values, format, {
    isStored,
    name: place.label.replace(/[^a-z0-9-]/g, '-'),
    hintWithout: (names) => leaveOutHint(names, flags),
  })
  for (const remark of remarks) warn(remark)
  if (isStored) warnReferences(format, values)
  warnLoading(format, values.keys())
  if (file === undefined) return writeData(text)
  writeNamed(file, text, { force: flags.force })
  note(`wrote ${count(values.size, 'value')} of ${place.label} to ${file}, readable by you alone`)
}

export function parseExportValues(flags: Options, named: string | undefined) {
  if (named !== undefined)
    throw usage(
      'secrets export writes to standard output and takes no file name',
      'run `skerry secrets export > .env`, or add --out .env for a file that only you can read',
    )
  const file = flags.out === '-' ? undefined : flags.out
  if (file === undefined && !showsValues(flags)) {
    throw usage('values are not shown on a terminal', 'send them to a file with --out or >, or add --reveal')
  }
  if (flags.json && flags.format !== undefined && flags.format !== 'json') {
    throw usage(`--json and --format ${flags.format} contradict each other`, 'leave one of them out')
  }
  checkSelection(flags)
  checkWritable(file, flags)
  const isStored = kindOf(flags) !== 'expanded'
  const format = flags.format ?? (flags.json ? 'json' : 'dotenv')
  return { file, isStored, format }
}

/** The readers of the formats for programs. They pass all names to the program, while `run` withholds some. */
const readers: Partial<Record<ExportFormat, string>> = {
  shell: 'a shell that sources this',
  docker: 'a container with this file',
  k8s: 'a pod with this secret in its environment',
  systemd: 'a unit with this file',
  'github-actions': 'a job that takes this into its environment',
}

function warnReferences(format: ExportFormat, values: Values): void {
  const referring = [...values].filter(([, value]) => referencesIn(value).length > 0).map(([name]) => name)
  const reader = readers[format]
  if (reader !== undefined && referring.length > 0)
    warn(`${reader} does not expand the references in ${referring.join(', ')}; leave out --stored and --merged`)
}

function warnLoading(format: ExportFormat, names: Iterable<string>): void {
  const reader = readers[format]
  if (reader === undefined) return
  for (const name of names) {
    const reason = loadingReason(name)
    if (reason !== undefined) warn(`${reader} gives every program ${name}: ${reason}; --except ${name} leaves it out`)
  }
}
