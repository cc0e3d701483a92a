import type { Sql, Tx } from '../../db/database.ts'
import type { Env } from '../../http/scope.ts'

export const listHolders = (db: Sql, env: Env) =>
  db.rows<{ principalType: string; principalId: string }>(
    'select principal_type, principal_id from key_grants where org_id = $1 and environment_id = $2',
    [env.orgId, env.id],
  )

/** Ends a branch that still has the slug although its time is up: no route shows it, so it must not stand in the way. */
export const deleteExpiredBranch = (db: Tx, parent: Env, slug: string, now: string) =>
  db.row<{ id: string; expiresAt: string }>(
    `delete from environments
      where org_id = $1 and parent_environment_id = $2 and slug = $3 and expires_at <= $4
      returning id, expires_at`,
    [parent.orgId, parent.id, slug, now],
  )

/** Ends branches whose time is up, a few at a time. Several servers may do this at once: each takes others. */
export const deleteExpiredBranches = (db: Sql, now: string, limit: number) =>
  db.rows<{ orgId: string; id: string; slug: string; parentEnvironmentId: string; expiresAt: string }>(
    `delete from environments where (org_id, id) in (
       select org_id, id from environments where expires_at <= $1 order by expires_at limit $2 for update skip locked)
     returning org_id, id, slug, parent_environment_id, expires_at`,
    [now, limit],
  )
