import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { type BranchRow, environmentColumns, manifestColumn, notExpired } from '../../model/environments/table.ts'
import { grantInForce } from '../../model/grants/table.ts'
import type { App } from '../apps/scope.ts'
import type { Env } from '../envs/scope.ts'

const branches = `
  select ${environmentColumns}, ${manifestColumn} from environments e
   where e.org_id = $1 and e.parent_environment_id is not null and ${notExpired('$3')}
     and ($4::timestamptz is null or (e.created_at, e.id) > ($4, $5))`

export const listAppBranches = (db: Sql, app: App, now: string, cursor: KeysetCursor) =>
  db.rows<BranchRow>(`${branches} and e.application_id = $2 order by e.created_at, e.id limit $6`, [
    app.orgId,
    app.id,
    now,
    cursor.at,
    cursor.id,
    cursor.take,
  ])

export const listBranches = (db: Sql, env: Env, now: string, cursor: KeysetCursor) =>
  db.rows<BranchRow>(`${branches} and e.parent_environment_id = $2 order by e.created_at, e.id limit $6`, [
    env.orgId,
    env.id,
    now,
    cursor.at,
    cursor.id,
    cursor.take,
  ])

/** Lists the holders of the key. Until commit none of them loses it, so that a later loss finds the new branch, too. */
export const lockHolders = (db: Tx, env: Env, now: string) =>
  db.rows<{ principalType: string; principalId: string }>(
    `select k.principal_type, k.principal_id from key_grants k
      where k.org_id = $1 and k.environment_id = $2 and ${grantInForce('$3')} order by k.id for key share of k`,
    [env.orgId, env.id, now],
  )
