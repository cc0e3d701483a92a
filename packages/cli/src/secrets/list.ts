import type { AtPlace } from '../frame.ts'
import { maskedValue, note, type Output, printable, writeTable } from '../output.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { listSources, ownSource, type Source, sourceText } from './sources.ts'
import { checkGroups, hintStored, kindOf, listSecrets, type View, type Viewed, viewValues } from './values.ts'

interface Options extends Flags, View {
  reveal?: boolean
}

interface Row {
  name: string
  version: number
  updatedAt: string
  source: Source
  /** The sources of the values that this one overrides, lowest precedence first. */
  overrides: Source[]
}

/** Lists the secrets that a program gets and the source of each. With `--stored`, lists only the secrets that this environment stores. */
export async function list({
  session,
  flags,
  place,
  input: { kind },
}: AtPlace<Options, typeof parseList>): Promise<Output> {
  checkGroups(place, flags.with)
  const isOwn = kind === 'stored' || place.kind === 'group'
  const sources = isOwn ? [ownSource(place)] : await hintStored(listSources(session, place, flags.with), session, place)
  const rows = await rowsOf(session, place, sources)
  const viewed = flags.reveal ? await viewValues(session, place, flags) : undefined
  const secrets = viewed ? rows.map((row) => ({ ...row, value: viewed.values[row.name] ?? null })) : rows
  return {
    json: { environment: { id: place.envId, label: place.label }, secrets },
    text: () => {
      writeRows(rows, viewed)
      if (kind === 'stored' && place.kind === 'branch')
        note(
          `this list shows only the secrets of the branch; a program also gets those of ${place.label.replace(/@.*/, '')}`,
        )
    },
  }
}

export const parseList = (flags: Options) => ({ kind: kindOf(flags) })

async function rowsOf(session: Session, { orgId }: Place, sources: Source[]): Promise<Row[]> {
  const rows = new Map<string, Row>()
  const layers = await Promise.all(
    sources.map((source) => listSecrets(session, { orgId, envId: source.environmentId, label: source.label })),
  )
  for (const [index, secrets] of layers.entries()) {
    const source = sources[index]!
    for (const { name, version, updatedAt } of secrets) {
      const below = rows.get(name)
      const overrides = below ? [...below.overrides, below.source] : []
      rows.set(name, { name, version, updatedAt, source, overrides })
    }
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function writeRows(rows: Row[], viewed: Viewed | undefined): void {
  writeTable(
    ['name', 'version', 'updated', 'source', ...(viewed ? ['value'] : [])],
    rows.map((row) => [
      row.name,
      String(row.version),
      shownTime(row.updatedAt),
      sourceText(row.source),
      ...(viewed ? [cellOf(row.name, viewed)] : []),
    ]),
    'no secrets here yet; write one with `skerry secrets set <NAME>`, or a file with `skerry secrets import <file>`',
  )
}

/** The value for a cell of the table, or the reason why there is none. */
function cellOf(name: string, { values, unexpanded }: Viewed): string {
  const value = values[name]
  return value === undefined ? `(no value: ${unexpanded.get(name)?.message ?? maskedValue})` : printable(value)
}
