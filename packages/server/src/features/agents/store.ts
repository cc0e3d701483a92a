import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { actingFor } from '../../model/people/made.ts'
import type { Org } from '../orgs/scope.ts'
import { type Agent, agentColumns } from './scope.ts'

/** With `environmentId`, lists only the agents of that environment. */
export const listAgents = (db: Sql, org: Org, environmentId: string | null, { at, id, take }: KeysetCursor) =>
  db.rows<Agent>(
    `select ${agentColumns} from agents a
      where a.org_id = $1 and ($2::ascii is null or a.environment_id = $2)
        and ($3::timestamptz is null or (a.created_at, a.id) > ($3, $4))
      order by a.created_at, a.id limit $5`,
    [org.id, environmentId, at, id, take],
  )

/** Returns undefined if another agent has the slug. */
export const insertAgent = (
  db: Tx,
  org: Org,
  one: {
    id: string
    name: string
    slug: string
    environmentId: string | null
    createdBy: { type: string; id: string }
    now: string
  },
) =>
  db.row<Agent>(
    `insert into agents as a (org_id, id, name, slug, environment_id, enabled, created_by_type, created_by_id, created_at,
                              updated_at)
     values ($1, $2, $3, $4, $5, true, $6, $7, $8, $8)
     on conflict (org_id, slug) do nothing returning ${agentColumns}`,
    [org.id, one.id, one.name, one.slug, one.environmentId, one.createdBy.type, one.createdBy.id, one.now],
  )

export const updateAgent = (
  db: Tx,
  { orgId, id }: Agent,
  change: { name: string; enabled: boolean; environmentId: string | null; isLost: boolean; now: string },
) =>
  db.row<Agent>(
    `update agents a set name = $3, enabled = $4, environment_id = $5,
            lost_environment_id = case when $6 then a.lost_environment_id end, updated_at = $7
      where a.org_id = $1 and a.id = $2 returning ${agentColumns}`,
    [orgId, id, change.name, change.enabled, change.environmentId, change.isLost, change.now],
  )

export const deleteAgent = async (db: Tx, { orgId, id }: Agent): Promise<boolean> =>
  (await db.row('delete from agents where org_id = $1 and id = $2 returning id', [orgId, id])) !== undefined

export const findBinding = (db: Sql, { orgId }: { orgId: string }, environmentId: string) =>
  db.row<{ slug: string }>('select slug from environments where org_id = $1 and id = $2', [orgId, environmentId])

/** Returns undefined if the person has no keys yet. */
export const findPublicKey = async (db: Sql, userId: string): Promise<string | undefined> =>
  (await db.row<{ publicKeyJwk: string | null }>('select public_key_jwk from users where id = $1', [userId]))
    ?.publicKeyJwk ?? undefined

/** Returns agents that lost their environment without an audit entry, and marks them as recorded. */
export const recordLosses = (db: Tx, atOnce: number) =>
  db.rows<{ orgId: string; id: string; lostEnvironmentId: string | null }>(
    `update agents set loss_recorded = true
      where (org_id, id) in (select org_id, id from agents where not loss_recorded order by org_id, id
                              limit $1 for update skip locked)
      returning org_id, id, lost_environment_id`,
    [atOnce],
  )

const madeBy = `org_id = $1 and enabled and (created_by_type, created_by_id) in (${actingFor('$1', '$2')})`

export const findAgentsMadeBy = (db: Sql, org: Org, userId: string) =>
  db.rows<{ id: string; name: string }>(`select id, name from agents where ${madeBy} order by created_at, id`, [
    org.id,
    userId,
  ])

export const disableAgents = (db: Tx, org: Org, userId: string, now: string) =>
  db.rows<{ id: string; name: string }>(
    `update agents set enabled = false, updated_at = $3 where ${madeBy} returning id, name`,
    [org.id, userId, now],
  )
