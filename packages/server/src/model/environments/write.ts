import type { Sql, Tx } from '../../db/database.ts'
import { type EnvironmentRow, environmentColumns, isUnprotected, type OfEnvironment, type Protection } from './table.ts'

// All statements that change `environments`. The caller writes the audit entry, because it knows what the change is: an
// environment, a branch, the end of a branch or of its application.

export interface NewEnvironment {
  orgId: string
  id: string
  applicationId: string | null
  groupId: string | null
  parentEnvironmentId: string | null
  name: string
  slug: string
  expiresAt: string | null
  protection: Protection | null
  /** Of a branch. */
  manifest: string | null
  now: string
}

/** Inserts an environment to which nobody has the key yet. Throws a unique violation if the slug is in use. */
export async function insertEnvironment(db: Tx, env: NewEnvironment): Promise<EnvironmentRow> {
  const row = await db.row<EnvironmentRow>(
    `insert into environments as e (org_id, id, application_id, group_id, parent_environment_id, name, slug, expires_at,
                                    required_approvals, allow_self_approval, branch_manifest, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) returning ${environmentColumns}`,
    [
      env.orgId,
      env.id,
      env.applicationId,
      env.groupId,
      env.parentEnvironmentId,
      env.name,
      env.slug,
      env.expiresAt,
      env.protection?.requiredApprovals ?? null,
      env.protection?.allowSelfApproval ?? null,
      env.manifest,
      env.now,
    ],
  )
  return row as EnvironmentRow
}

/**
 * Stores new manifests of the branches of a re-keyed environment, or of itself if it is a branch. All others are dropped,
 * because they were made with the key before. Unknown branches are left out.
 */
export const renewManifests = (
  db: Tx,
  env: OfEnvironment,
  manifests: readonly { environmentId: string; manifest: string }[],
) =>
  db.rows(
    `update environments e
        set branch_manifest = (select g.manifest from unnest($3::text[], $4::text[]) as g(id, manifest) where g.id = e.id)
      where e.org_id = $1 and e.parent_environment_id is not null and (e.parent_environment_id = $2 or e.id = $2)
        and (e.branch_manifest is not null or e.id = any($3::text[]))`,
    [env.orgId, env.id, manifests.map(({ environmentId }) => environmentId), manifests.map(({ manifest }) => manifest)],
  )

/** Renames an environment. Returns undefined if it has been deleted since it was found. */
export const renameEnvironment = (db: Tx, env: OfEnvironment, name: string, now: string) =>
  db.row<EnvironmentRow>(
    `update environments e set name = $3, updated_at = $4 where org_id = $1 and id = $2 returning ${environmentColumns}`,
    [env.orgId, env.id, name, now],
  )

/** Sets the protection. Lock the row first, so that the protection is still the one that was checked. */
export const putProtection = (db: Tx, env: OfEnvironment, protection: Protection | null) =>
  db.rows('update environments set required_approvals = $3, allow_self_approval = $4 where org_id = $1 and id = $2', [
    env.orgId,
    env.id,
    protection?.requiredApprovals ?? null,
    protection?.allowSelfApproval ?? null,
  ])

/** Deletes an environment. Returns undefined if somebody else has deleted it since it was found. */
export const deleteEnvironment = (db: Tx, env: OfEnvironment) =>
  db.row<{ isProtected: boolean }>(
    `delete from environments e where org_id = $1 and id = $2 returning not (${isUnprotected}) as is_protected`,
    [env.orgId, env.id],
  )

/** Deletes an expired branch that still has the slug. No route shows it any more, so it must not block the slug. */
export const deleteExpiredBranch = (db: Tx, parent: OfEnvironment, slug: string, now: string) =>
  db.row<{ id: string; expiresAt: string }>(
    `delete from environments
      where org_id = $1 and parent_environment_id = $2 and slug = $3 and expires_at <= $4
      returning id, expires_at`,
    [parent.orgId, parent.id, slug, now],
  )

/**
 * Deletes expired branches, a few at a time. Several servers may do this at once, because each takes different rows.
 */
export const deleteExpiredBranches = (db: Sql, now: string, limit: number) =>
  db.rows<{ orgId: string; id: string; slug: string; parentEnvironmentId: string; expiresAt: string }>(
    `delete from environments where (org_id, id) in (
       select org_id, id from environments where expires_at <= $1 order by expires_at limit $2 for update skip locked)
     returning org_id, id, slug, parent_environment_id, expires_at`,
    [now, limit],
  )
