import type { Protection as ProtectionSettings } from '@skerry/contract/changes/schemas'
import type { Branch, Environment } from '@skerry/contract/envs/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'

// The table `environments`. Only write.ts changes its rows.

/** The row in the form of the API. */
export type EnvironmentRow = Static<typeof Environment>
/** A branch in the form of the API. */
export type BranchRow = Static<typeof Branch>
export type Protection = Static<typeof ProtectionSettings>

/** Identifies an environment. */
export interface OfEnvironment {
  orgId: string
  id: string
}

/** Columns of `environments e`. */
export const environmentColumns = `e.id, e.application_id, e.group_id, e.parent_environment_id, e.name, e.slug,
  e.expires_at, e.created_at, e.updated_at`

/** The column of a branch that {@link environmentColumns} leaves out. */
export const manifestColumn = 'e.branch_manifest as manifest'

/** SQL condition on `environments e`: writes to it need no approval. */
export const isUnprotected = 'e.required_approvals is null'

/** A column of `environments e`. Null if the environment is not protected. */
export const protectionColumn = `case when not (${isUnprotected}) then json_build_object(
  'requiredApprovals', e.required_approvals, 'allowSelfApproval', e.allow_self_approval) end as protection`

/**
 * SQL condition on `environments e`, at the instant of a parameter: the environment has not expired. An expired one
 * counts as deleted, even before its row is.
 */
export const notExpired = (now: `$${number}`) => `(e.expires_at is null or e.expires_at > ${now})`

/**
 * A lock on the row. With `key share`, the environment cannot be deleted or re-keyed. `no key update` also makes other
 * transactions with this lock wait, so that counts and settings change one after the other. With `update`, nothing new
 * can be added to the environment, because foreign keys wait.
 */
type Lock = 'key share' | 'no key update' | 'update'

/** Locks the environment until commit. Returns undefined if it is deleted. */
export const lockEnvironment = (db: Tx, env: OfEnvironment, lock: Lock) =>
  db.row<{ protection: Protection | null }>(
    `select ${protectionColumn} from environments e where e.org_id = $1 and e.id = $2 for ${lock}`,
    [env.orgId, env.id],
  )

export type LockedEnvironment = Pick<EnvironmentRow, 'id' | 'groupId' | 'parentEnvironmentId'>

/** Returns those of these environments that exist. None of them can be deleted or re-keyed before commit. */
export async function lockEnvironments(
  db: Tx,
  orgId: string,
  ids: readonly string[],
  now: string,
): Promise<Map<string, LockedEnvironment>> {
  const rows = await db.rows<LockedEnvironment>(
    `select e.id, e.group_id, e.parent_environment_id from environments e
      where e.org_id = $1 and e.id = any($2::text[]) and ${notExpired('$3')} order by e.id for key share`,
    [orgId, ids, now],
  )
  return new Map(rows.map((row) => [row.id, row]))
}
