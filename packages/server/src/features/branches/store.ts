import type { Environment } from '@skerry/contract/envs'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { App } from '../apps/scope.ts'
import { type Env, environmentColumns, notExpired } from '../envs/scope.ts'

type EnvironmentRow = Static<typeof Environment>

const branches = `
  select ${environmentColumns} from environments e
   where e.org_id = $1 and e.parent_environment_id is not null and ${notExpired('$3')}
     and ($4::timestamptz is null or (e.created_at, e.id) > ($4, $5))`

export const listAppBranches = (db: Sql, app: App, now: string, cursor: KeysetCursor) =>
  db.rows<EnvironmentRow>(`${branches} and e.application_id = $2 order by e.created_at, e.id limit $6`, [
    app.orgId,
    app.id,
    now,
    cursor.at,
    cursor.id,
    cursor.take,
  ])

export const listBranches = (db: Sql, env: Env, now: string, cursor: KeysetCursor) =>
  db.rows<EnvironmentRow>(`${branches} and e.parent_environment_id = $2 order by e.created_at, e.id limit $6`, [
    env.orgId,
    env.id,
    now,
    cursor.at,
    cursor.id,
    cursor.take,
  ])

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
