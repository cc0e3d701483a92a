import { fail } from './errors.ts'
import { isInstant } from './instant.ts'

/** Where a page starts: after the row of this instant and id. */
export interface Mark {
  at: string | null
  id: string | null
  /** One more than asked for, to know whether another page follows; null for all. */
  take: number | null
}

/** Reads `cursor` and `limit`. Cursors are opaque to callers: `base64url(<instant> <id>)`. */
export function pageFrom(query: { cursor?: string | undefined; limit?: number | undefined }, fallback?: number): Mark {
  const limit = query.limit ?? fallback
  const take = limit === undefined ? null : limit + 1
  if (query.cursor === undefined) return { at: null, id: null, take }
  const [at, id, ...rest] = Buffer.from(query.cursor, 'base64url').toString().split(' ')
  if (!at || !id || rest.length > 0 || !isInstant(at) || !/^\w{1,64}$/.test(id)) throw notOfThisList()
  return { at, id, take }
}

export const notOfThisList = () => fail('invalid_request', 'query.cursor: not a cursor of this list')

/** Cuts the extra row off and says where the next page starts; null at the end. */
export function pageOf<Row>(
  rows: Row[],
  mark: Mark,
  place: (row: Row) => [at: string, id: string],
): { rows: Row[]; nextCursor: string | null } {
  if (mark.take === null || rows.length < mark.take) return { rows, nextCursor: null }
  const shown = rows.slice(0, mark.take - 1)
  const last = shown.at(-1)
  return { rows: shown, nextCursor: last ? Buffer.from(place(last).join(' ')).toString('base64url') : null }
}

/** The usual order: oldest first. */
export const byCreation = (row: { createdAt: string; id: string }): [string, string] => [row.createdAt, row.id]
