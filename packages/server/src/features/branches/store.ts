import type { Sql } from '../../db/database.ts'
import type { Env } from '../../http/scope.ts'

export const listHolders = (db: Sql, env: Env) =>
  db.rows<{ principalType: string; principalId: string }>(
    'select principal_type, principal_id from key_grants where org_id = $1 and environment_id = $2',
    [env.orgId, env.id],
  )

/** Ends branches whose time is up, a few at a time. Several servers may do this at once: each takes others. */
export const deleteExpiredBranches = (db: Sql, now: string) =>
  db.rows<{ orgId: string; id: string; slug: string; parentEnvironmentId: string; expiresAt: string }>(
    `delete from environments where (org_id, id) in (
       select org_id, id from environments where expires_at <= $1 order by expires_at limit 100 for update skip locked)
     returning org_id, id, slug, parent_environment_id, expires_at`,
    [now],
  )
