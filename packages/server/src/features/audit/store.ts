import type { Sql } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'
import { type Entry, entryColumnsOf } from './scope.ts'

export interface Filter {
  action?: string | undefined
  resourceType?: string | undefined
  resourceId?: string | undefined
  actorId?: string | undefined
  requestId?: string | undefined
  text?: string | undefined
  /** Ids whose names contain the text. */
  named: readonly string[]
  /** An application, environments or both: entries about one of them, or about something in one of them. */
  places?: readonly string[] | undefined
  /** Instants as they are stored: entries at or after `since`, and before `until`. */
  since?: string | undefined
  until?: string | undefined
}

/** The position of an entry in the order of the log. */
export interface Place {
  at: string
  id: string
}

/** The position before the newest entry. */
export const beforeAll: Place = { at: 'infinity', id: '' }

/** Consecutive entries, newest first, and the matches among them. */
export interface Piece<Found> {
  found: Found[]
  /** How many entries the piece has: fewer than requested at the end of the log. */
  looked: number
  /** The oldest entry of the piece; null if the piece is empty. */
  last: Place | null
}

/** The fields that have an index, the most selective first. */
const indexed = [
  { field: 'requestId', column: 'request_id' },
  { field: 'resourceId', column: 'resource_id' },
  { field: 'actorId', column: 'actor_id' },
] as const

/** True if every entry of a piece matches the filter. */
export function isNarrow({ action, resourceType, resourceId, actorId, requestId, text, places }: Filter): boolean {
  const ids = [requestId, resourceId, actorId].filter((id) => id !== undefined)
  const others = [action, resourceType, text, places]
  return ids.length <= 1 && others.every((field) => field === undefined)
}

/**
 * Selects a piece and its matches. The index of one filter field, or of the time, finds the piece. The rest of the
 * filter is applied only to the entries of the piece, so that its size bounds the cost of a statement.
 */
const pieceText = (column: string | undefined, isByMetadata: boolean, found: string) => `
  with piece as materialized (
    select id, action, actor_type, actor_id, resource_type, resource_id, ip_address, user_agent, request_id, created_at,
           ${isByMetadata || found === asEntries ? 'metadata' : 'null::jsonb as metadata'}
      from audit_entries
     where org_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz
       and (created_at, id) < ($4::timestamptz, $5::text) and ${column === undefined ? '$6::text is null' : `${column} = $6::text`}
     order by created_at desc, id desc limit $7
  ), matching as (
    select * from piece
     where ($8::text is null or action = $8) and ($9::text is null or resource_type = $9)
       and ($10::text is null or resource_id = $10) and ($11::text is null or actor_id = $11)
       and ${isByMetadata ? `${hasText} and ${isInPlace}` : '$12::text is null and $13::text[] is not null and $15::text[] is null'}
  )
  select looked.entries as looked, last.created_at as last_at, last.id as last_id, found.*
    from (select count(*)::int as entries from piece) looked
    left join (select created_at, id from piece order by created_at, id limit 1) last on true
    left join lateral (${found}) found on true`

/** Matches the text in the names of the actor and the resource, and in the metadata of an entry. */
const hasText = `($12::text is null or actor_id in (select unnest($13::text[])) or resource_id in (select unnest($13::text[]))
            or exists (select from jsonb_each_text(metadata) told where position(lower($12::text) in lower(told.value)) > 0))`

const isInPlace = `($15::text[] is null or resource_id = any($15::text[]) or metadata->>'environmentId' = any($15::text[])
            or metadata->'environmentIds' ?| $15::text[]
            or metadata->>'applicationId' = any($15::text[]))`

const asEntries = `select ${entryColumnsOf('matching')} from matching order by created_at desc, id desc limit $14`
/** Counts entries by the hour or the day (UTC) in which they were written. */
const asCounts = `select date_trunc($14, created_at, 'UTC') as counted_at, resource_type as counted_type, count(*)::int as counted
                    from matching group by 1, 2`

const texts = (found: string) => {
  const made = [undefined, ...indexed.map(({ column }) => column)].flatMap((column) =>
    [true, false].map((isByMetadata) => [`${column} ${isByMetadata}`, pieceText(column, isByMetadata, found)] as const),
  )
  return new Map(made)
}
const entryTexts = texts(asEntries)
const countTexts = texts(asCounts)

async function readPiece<Row>(
  db: Sql,
  org: Org,
  { filter, after, size }: PieceInput,
  texts: Map<string, string>,
  last: unknown,
): Promise<Piece<Row>> {
  const { action, resourceType, resourceId, actorId, text, named, places, since, until } = filter
  const by = indexed.find(({ field }) => filter[field] !== undefined)
  const rows = await db.rows<Row & { looked: number; lastAt: string | null; lastId: string }>(
    texts.get(`${by?.column} ${text !== undefined || places !== undefined}`) as string,
    [
      ...[org.id, since ?? '-infinity', until ?? 'infinity', after.at, after.id, by && filter[by.field], size],
      ...[action, resourceType, resourceId, actorId, text, named, last, places],
    ],
  )
  const [first] = rows
  const place = first && first.lastAt !== null ? { at: first.lastAt, id: first.lastId } : null
  return { found: rows, looked: first?.looked ?? 0, last: place }
}

interface PieceInput {
  filter: Filter
  after: Place
  /** The maximum number of entries. */
  size: number
}

/** @param take the maximum number of matches */
export async function findEntries(db: Sql, org: Org, input: PieceInput, take: number): Promise<Piece<Entry>> {
  type Row = Entry & { looked: number; lastAt: string; lastId: string }
  const piece = await readPiece<Row>(db, org, input, entryTexts, take)
  const found = piece.found.filter(({ id }) => id !== null).map(({ looked: _, lastAt, lastId, ...entry }) => entry)
  return { ...piece, found }
}

export interface Count {
  at: string
  resourceType: string
  entries: number
}

export async function countEntries(db: Sql, org: Org, input: PieceInput, step: 'hour' | 'day'): Promise<Piece<Count>> {
  type Row = { countedAt: string | null; countedType: string; counted: number }
  const piece = await readPiece<Row>(db, org, input, countTexts, step)
  const found = piece.found.flatMap(({ countedAt, countedType, counted }) =>
    countedAt === null ? [] : [{ at: countedAt, resourceType: countedType, entries: counted }],
  )
  return { ...piece, found }
}
