import { type IdKind, isNamed } from '@skerry/contract/prefixes'
import { Failure, usage } from './failure.ts'
import { checkKind, checkKnownName } from './known-names.ts'
import { orNearest } from './nearest.ts'
import type { Session } from './session.ts'

interface Names<T> {
  kind: IdKind
  /** The noun in messages: `token`. */
  noun: string
  /** The command that lists all: `skerry token ls`. */
  list: string
  nameOf: (row: T) => string | null
  /** Whether the name is a slug, which never changes. */
  isSlug?: boolean
}

/** Finds the row that the user names by its id, or by a name that only one row has. */
export function findOne<T extends { id: string }>(rows: readonly T[], wanted: string, names: Names<T>): T {
  const { kind, noun, list, nameOf } = names
  const found = rows.filter((row) => isNamed(wanted, kind, { id: row.id, name: nameOf(row) }))
  if (found.length > 1)
    throw usage(
      `${found.length} ${noun}s are called '${wanted}': ${found.map(({ id }) => id).join(', ')}`,
      `use the id of one of them; see \`${list}\``,
    )
  if (found[0]) {
    checkKind({ kind, id: found[0].id }, noun)
    return found[0]
  }
  throw new Failure(
    'notFound',
    `there is no ${noun} '${wanted}'`,
    orNearest(wanted, rows.map(nameOf), `see \`${list}\``),
  )
}

/** Does the same as `findOne`, and refuses another row than the one that this machine knows by this name. */
export function findKnown<T extends { id: string }>(
  { session, orgId }: { session: Session; orgId: string },
  rows: readonly T[],
  wanted: string,
  names: Names<T>,
): T {
  const row = findOne(rows, wanted, names)
  const name = names.nameOf(row)
  if (name !== null) checkKnownName(session, orgId, { ...names, wanted, id: row.id, name })
  return row
}
