import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import { environmentLabel, labelJoins } from '../../model/environments/label.ts'
import { notExpired } from '../../model/environments/table.ts'
import { grantInForce } from '../../model/grants/table.ts'
import type { InOrg, Org } from '../orgs/scope.ts'
import type { Status } from './lifecycle.ts'
import { type AccessRequestRow, holds, requestColumns } from './scope.ts'

const isOpen = `r.status = 'open' and r.expires_at > $2`
const withStatus = { open: isOpen, closed: `not (${isOpen})`, any: '$2::timestamptz is not null' }

/** @param userId the person whose requests are listed; null for everyone's */
export const listRequests = (
  db: Sql,
  { org, principal }: InOrg,
  { userId, status, now }: { userId: string | null; status: keyof typeof withStatus; now: string },
  cursor: KeysetCursor,
) =>
  db.rows<AccessRequestRow>(
    `select ${requestColumns('$2', '$3', '$4')} from access_requests r
      where r.org_id = $1 and ($5::text is null or r.user_id = $5) and ${withStatus[status]}
        and ($6::timestamptz is null or (r.created_at, r.id) > ($6, $7))
      order by r.created_at, r.id limit $8`,
    [org.id, now, principal.type, principal.id, userId, cursor.at, cursor.id, cursor.take],
  )

export async function countOpen(db: Sql, org: Org, userId: string | null, now: string): Promise<number> {
  const row = await db.row<{ count: number }>(
    `select count(*) as count from access_requests r
      where r.org_id = $1 and ($3::text is null or r.user_id = $3) and ${isOpen}`,
    [org.id, now, userId],
  )
  return row?.count ?? 0
}

interface Wanted {
  id: string
  label: string
  held: boolean
  asked: boolean
}

/** Lists the environments that exist, and says which of them the person can read or has asked for. */
export const listWanted = (db: Sql, org: Org, userId: string, environmentIds: string[], now: string) =>
  db.rows<Wanted>(
    `select e.id, ${environmentLabel} as label,
            exists (select from key_grants k where k.org_id = e.org_id and k.environment_id = e.id
                       and k.principal_type = 'user' and k.principal_id = $3 and ${grantInForce('$2')}) as held,
            exists (select from access_request_environments x
                      join access_requests r on r.org_id = x.org_id and r.id = x.request_id
                     where x.org_id = e.org_id and x.environment_id = e.id and r.user_id = $3 and ${isOpen}) as asked
       from environments e
       ${labelJoins}
      where e.org_id = $1 and e.id = any($4::text[]) and ${notExpired('$2')}
      order by label`,
    [org.id, now, userId, environmentIds],
  )

export async function insertRequest(
  db: Tx,
  org: Org,
  request: {
    id: string
    userId: string
    reason: string | null
    forSeconds: number | null
    environmentIds: string[]
    now: string
    expiresAt: string
  },
): Promise<void> {
  await db.rows(
    `insert into access_requests (org_id, id, user_id, reason, for_seconds, status, created_at, expires_at)
     values ($1, $2, $3, $4, $5, 'open', $6, $7)`,
    [org.id, request.id, request.userId, request.reason, request.forSeconds, request.now, request.expiresAt],
  )
  await db.rows(
    `insert into access_request_environments (org_id, request_id, environment_id)
     select $1, $2, id from unnest($3::text[]) as given(id)`,
    [org.id, request.id, request.environmentIds],
  )
}

export async function getRequest(
  db: Sql,
  { org, principal }: InOrg,
  id: string,
  now: string,
): Promise<AccessRequestRow> {
  const row = await db.row<AccessRequestRow>(
    `select ${requestColumns('$3', '$4', '$5')} from access_requests r where r.org_id = $1 and r.id = $2`,
    [org.id, id, now, principal.type, principal.id],
  )
  if (!row) throw new Error('a request in this transaction exists')
  return row
}

interface Closing {
  status: Exclude<Status, 'open'>
  by: Principal
  answer: string | null
  now: string
}

/** Returns false if the request was closed or has expired meanwhile. */
export const closeRequest = async (db: Tx, org: Pick<Org, 'id'>, id: string, closing: Closing): Promise<boolean> =>
  (await db.row(
    `update access_requests r set status = $3, closed_at = $2, closed_by_type = $4, closed_by_id = $5, answer = $6
      where r.org_id = $1 and r.id = $7 and ${isOpen} returning r.id`,
    [org.id, closing.now, closing.status, closing.by.type, closing.by.id, closing.answer, id],
  )) !== undefined

/** Locks the open requests of people for environments, so that two last grants at the same time see each other. */
export const lockOpen = (
  db: Tx,
  orgId: string,
  granted: readonly { environmentId: string; principalId: string }[],
  now: string,
) =>
  db.rows<{ id: string }>(
    `select r.id from access_requests r
      where r.org_id = $1 and ${isOpen} and r.user_id = any($4::text[])
        and exists (select from access_request_environments x
                      join unnest($3::text[], $4::text[]) as given(environment_id, user_id)
                        on given.environment_id = x.environment_id and given.user_id = r.user_id
                     where x.org_id = r.org_id and x.request_id = r.id)
      order by r.id for update`,
    [orgId, now, granted.map(({ environmentId }) => environmentId), granted.map(({ principalId }) => principalId)],
  )

/** Condition on `access_requests r`: the person holds all keys that are asked for. */
const isGranted = (
  now: `$${number}`,
) => `exists (select from access_request_environments x where x.org_id = r.org_id and x.request_id = r.id)
  and not exists (select from access_request_environments x
                   where x.org_id = r.org_id and x.request_id = r.id and not ${holds(`'user'`, 'r.user_id', now)})`

/** Closes those of the locked requests whose keys are all granted. */
export const closeGranted = (db: Tx, orgId: string, ids: string[], by: Principal, now: string) =>
  db.rows<{ id: string; userId: string; labels: string[] }>(
    `with closed as (
       update access_requests r set status = 'granted', closed_at = $2, closed_by_type = $4, closed_by_id = $5
        where r.org_id = $1 and r.id = any($3::text[]) and ${isOpen} and ${isGranted('$2')}
       returning r.org_id, r.id, r.user_id)
     select c.id, c.user_id, (select array_agg(${environmentLabel} order by ${environmentLabel})
                                from access_request_environments x
                                join environments e on e.org_id = x.org_id and e.id = x.environment_id
                                ${labelJoins}
                               where x.org_id = c.org_id and x.request_id = c.id) as labels
       from closed c order by c.id`,
    [orgId, now, ids, by.type, by.id],
  )

export const closeEnded = (db: Tx, now: string) =>
  db.rows<{ orgId: string; id: string; userId: string; status: 'granted' | 'expired' }>(
    `update access_requests r set status = case when ${isGranted('$1')} then 'granted' else 'expired' end, closed_at = $1
      where r.status = 'open'
        and (r.expires_at <= $1 or ${isGranted('$1')}
             or not exists (select from access_request_environments x where x.org_id = r.org_id and x.request_id = r.id))
     returning r.org_id, r.id, r.user_id, r.status`,
    [now],
  )
