import { secretNamePattern } from '@skerry/contract/patterns'
import { type IdKind, idPattern } from '@skerry/contract/prefixes'
import { fail } from '../kernel/errors.ts'
import { isInstant } from '../kernel/instant.ts'

/** The start of a page: after the row with this instant and id. */
export interface KeysetCursor {
  at: string | null
  id: string | null
  /** How many rows to read: one more than the limit, to find out whether another page follows. Null reads all rows. */
  take: number | null
}

/** The kind of a list's rows, with which its cursors end. A cursor of another list is refused instead of misread. */
type Kind = IdKind | 'version' | 'details' | 'missing'

const idForms = new Map<Kind, RegExp>([
  ['missing', /^env_[0-9A-Za-z]{22}\.usr_[0-9A-Za-z]{22}$/],
  ['version', /^\d{1,9}$/],
  // A name behind a dot, because the id of another list's cursor is a valid name.
  ['details', new RegExp(secretNamePattern.replace('^', '^\\.'))],
])

function idForm(kind: Kind): RegExp {
  const form = idForms.get(kind) ?? new RegExp(idPattern(kind as IdKind))
  idForms.set(kind, form)
  return form
}

/** Reads `cursor` and `limit`. Cursors are opaque to callers: `base64url(<instant> <id>)`. */
export function pageFrom(
  query: { cursor?: string | undefined; limit?: number | undefined },
  kind: Kind,
  fallback?: number,
): KeysetCursor {
  const limit = query.limit ?? fallback
  const take = limit === undefined ? null : limit + 1
  if (query.cursor === undefined) return { at: null, id: null, take }
  const [at, id, ...rest] = Buffer.from(query.cursor, 'base64url').toString().split(' ')
  if (!at || !id || rest.length > 0 || !isInstant(at) || !idForm(kind).test(id))
    throw fail('invalid_request', 'query.cursor: not a cursor of this list')
  return { at, id, take }
}

/** Removes the extra row and returns the cursor of the next page, or null at the end. */
export function pageOf<Row>(
  rows: Row[],
  cursor: KeysetCursor,
  place: (row: Row) => [at: string, id: string],
): { rows: Row[]; nextCursor: string | null } {
  if (cursor.take === null || rows.length < cursor.take) return { rows, nextCursor: null }
  const kept = rows.slice(0, cursor.take - 1)
  const last = kept.at(-1)
  return { rows: kept, nextCursor: last ? cursorAt(...place(last)) : null }
}

/** The cursor for the rows after this one. */
export const cursorAt = (at: string, id: string): string => Buffer.from(`${at} ${id}`).toString('base64url')

/** The default order: oldest first. */
export const byCreation = (row: { createdAt: string; id: string }): [string, string] => [row.createdAt, row.id]
