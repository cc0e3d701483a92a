import type { Sql } from '../../db/database.ts'
import { browserFactor } from '../../identity/session-store.ts'
import { cliFactor } from '../../identity/store.ts'
import type { Committed } from '../../kernel/context.ts'
import { isSecondFactorBehind, type TokenPrincipal, type UserPrincipal } from '../../kernel/principal.ts'
import { grantInForce } from '../../model/grants/table.ts'
import { tokenInForce } from '../../model/tokens/table.ts'
import type { Stream } from './streams.ts'

/** Lists the ids of the people and tokens that hold the key of an environment. */
export async function listHolders(db: Sql, orgId: string, environmentId: string, now: string): Promise<Set<string>> {
  const rows = await db.rows<{ principalId: string }>(
    `select k.principal_id from key_grants k where k.org_id = $1 and k.environment_id = $2 and ${grantInForce('$3')}`,
    [orgId, environmentId, now],
  )
  return new Set(rows.map(({ principalId }) => principalId))
}

interface PersonRow {
  stream: number
  role: string
  mfaRequired: boolean
  mfaAt: string | null
  secondFactor: boolean
  isOwnBrowser: boolean
}

/**
 * Finds the memberships behind streams of people, if their sessions are still valid. A session of an external identity
 * provider has no row: its stream ends with its token.
 */
const people = `
  select w.n::int as stream, m.role, o.mfa_required, coalesce(s.mfa_at, c.mfa_at) as mfa_at,
         case when s.id is not null then ${browserFactor} else coalesce(${cliFactor('c')}, false) end as second_factor,
         coalesce(s.issuer_second_factor is null and s.id is not null, false) as is_own_browser
    from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as w(org_id, user_id, kind, session_id, n)
    join memberships m on m.org_id = w.org_id and m.user_id = w.user_id
    join organizations o on o.id = m.org_id
    join users u on u.id = m.user_id
    left join sessions s on w.kind = 'browser' and s.id = w.session_id and s.user_id = u.id
                        and s.ended_at is null and s.expires_at > $5
    left join cli_sessions c on w.kind = 'cli' and c.id = w.session_id and c.user_id = u.id
                            and c.revoked_at is null and c.expires_at > $5
   where w.session_id is null or s.id is not null or c.id is not null`

type OfPerson = Stream & { principal: UserPrincipal }
type OfToken = Stream & { principal: TokenPrincipal }

/** Returns the role of each stream that may go on. */
export async function findRights(db: Sql, streams: readonly Stream[], now: string): Promise<Map<Stream, string>> {
  const ofPeople = streams.filter((stream): stream is OfPerson => stream.principal.type === 'user')
  const ofTokens = streams.filter((stream): stream is OfToken => stream.principal.type === 'service_token')
  const rights = new Map<Stream, string>()
  if (ofPeople.length > 0) for (const [stream, role] of await peopleIn(db, ofPeople, now)) rights.set(stream, role)
  if (ofTokens.length > 0) for (const [stream, role] of await tokensIn(db, ofTokens, now)) rights.set(stream, role)
  return rights
}

async function peopleIn(db: Sql, streams: readonly OfPerson[], now: string): Promise<[Stream, string][]> {
  const rows = await db.rows<PersonRow>(people, [
    streams.map(({ orgId }) => orgId),
    streams.map(({ principal }) => principal.id),
    streams.map(({ principal }) => principal.session.kind),
    streams.map(({ principal }) => principal.session.id),
    now,
  ])
  return rows.flatMap(({ stream: n, role, ...found }): [Stream, string][] => {
    const stream = streams[n - 1]
    return stream && hasFactors(stream.principal, found) ? [[stream, role]] : []
  })
}

/** The rules of `signedIn` and `member`, for the second factor as it is now. */
function hasFactors({ session }: UserPrincipal, row: Omit<PersonRow, 'stream' | 'role'>): boolean {
  const { mfaAt, secondFactor } = session.id === null ? session : row
  if (row.isOwnBrowser && secondFactor && mfaAt === null) return false
  return !row.mfaRequired || isSecondFactorBehind({ ...session, mfaAt, secondFactor })
}

async function tokensIn(db: Sql, streams: readonly OfToken[], now: string): Promise<[Stream, string][]> {
  const rows = await db.rows<{ stream: number; role: string }>(
    `select w.n::int as stream, t.role
       from unnest($1::text[], $2::text[]) with ordinality as w(org_id, token_id, n)
       join service_tokens t on t.org_id = w.org_id and t.id = w.token_id
      where ${tokenInForce('$3')}`,
    [streams.map(({ orgId }) => orgId), streams.map(({ principal }) => principal.id), now],
  )
  return rows.flatMap(({ stream: n, role }): [Stream, string][] => {
    const stream = streams[n - 1]
    return stream ? [[stream, role]] : []
  })
}

/** A row of a poll. Without new entries there is one row, whose entry is null. */
export type PollRow = { horizon: string } & (Committed | { [K in keyof Committed]: null })

/** Entries beyond this number in one poll are a gap. */
export const entriesAtOnce = 2000

/** Lists the entries of transactions that the previous poll could not see, as `db/invalidations.ts` does. */
export const pollEntries = (db: Sql, horizon: string | null, orgIds: string[]) =>
  db.rows<PollRow>(
    `select s.horizon, e.*
       from (select pg_snapshot_xmin(pg_current_snapshot())::text as horizon) s
       left join lateral (
         select org_id, id, action, actor_type, actor_id, resource_type, resource_id, metadata, created_at
           from audit_entries
          where xid >= $1::text::xid8 and org_id = any($2::text[])
          order by xid limit ${entriesAtOnce + 1}) e on true`,
    [horizon, orgIds],
  )

/** Finds the name of a person. Their address is for the list of members alone. */
export const findShownName = async (db: Sql, userId: string): Promise<string> =>
  (await db.row<{ name: string | null }>('select name from users where id = $1', [userId]))?.name ?? 'A member'
