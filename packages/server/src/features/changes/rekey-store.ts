import type { Sql, Tx } from '../../db/database.ts'
import { keyedState } from '../../model/environments/keyed.ts'
import { ownGrant } from '../../model/grants/table.ts'
import type { RekeyBody } from './rekey/checks.ts'
import type { Change } from './scope.ts'
import type { Proposed } from './store.ts'

/** The size of one row: a re-key may have 64 MiB, and the embedded database keeps each statement in memory several times. */
const partCharacters = 1024 * 1024

/** Stores the body of a proposed re-key. */
export async function insertBody(db: Tx, orgId: string, changeRequestId: string, body: RekeyBody): Promise<void> {
  const text = JSON.stringify(body)
  for (let part = 0; part * partCharacters < text.length; part++)
    await db.rows('insert into proposed_rekeys (org_id, change_request_id, part, body) values ($1, $2, $3, $4)', [
      orgId,
      changeRequestId,
      part,
      text.slice(part * partCharacters, (part + 1) * partCharacters),
    ])
}

/** Returns the body, or undefined if the change is decided. */
export async function findBody(db: Sql, { orgId, id }: Pick<Change, 'orgId' | 'id'>): Promise<RekeyBody | undefined> {
  const parts = await db.rows<{ body: string }>(
    'select body from proposed_rekeys where org_id = $1 and change_request_id = $2 order by part',
    [orgId, id],
  )
  return parts.length === 0 ? undefined : JSON.parse(parts.map(({ body }) => body).join(''))
}

/** Says whether the caller has the present key, and whether anything has changed since the proposal. */
export const findReview = (db: Sql, change: Change, principal: { type: string; id: string }, now: string) =>
  db.row<{ held: boolean; stale: boolean }>(
    `select exists (select from key_grants k where ${ownGrant('$3', '$4', '$5')}) as held, c.base_state <> ${keyedState('$5')} as stale
       from change_requests c join environments e on e.org_id = c.org_id and e.id = c.environment_id
      where c.org_id = $1 and c.id = $2`,
    [change.orgId, change.id, principal.type, principal.id, now],
  )

/** Locks the re-key that waits in an environment. There is at most one. */
export const lockOpenRekey = (db: Tx, env: { orgId: string; id: string }) =>
  db.row<Proposed & { baseState: string }>(
    `select org_id, id, environment_id, secret_name, action, group_id, group_size, proposed_by_type, proposed_by_id, base_state
       from change_requests
      where org_id = $1 and environment_id = $2 and action = 'rekey' and status = 'open' for update`,
    [env.orgId, env.id],
  )
