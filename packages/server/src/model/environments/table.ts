import type { Protection as ProtectionSettings } from '@skerry/contract/changes/schemas'
import type { Environment } from '@skerry/contract/envs/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'

// `environments`. Only write.ts changes its rows.

/** The row as answers show it. */
export type EnvironmentRow = Static<typeof Environment>
export type Protection = Static<typeof ProtectionSettings>

/** Which environment is meant. */
export interface OfEnvironment {
  orgId: string
  id: string
}

/** Columns of `environments e`. */
export const environmentColumns = `e.id, e.application_id, e.group_id, e.parent_environment_id, e.name, e.slug,
  e.expires_at, e.created_at, e.updated_at`

/** SQL condition on `environments e`: writes to it need no approval. */
export const isUnprotected = 'e.required_approvals is null'

/** A column of `environments e`. Null where the environment is not protected. */
export const protectionColumn = `case when not (${isUnprotected}) then json_build_object(
  'requiredApprovals', e.required_approvals, 'allowSelfApproval', e.allow_self_approval) end as protection`

/** SQL condition on `environments e`, at the instant of a parameter: an environment that has expired is gone, swept or not. */
export const notExpired = (now: `$${number}`) => `(e.expires_at is null or e.expires_at > ${now})`

/**
 * A lock on the row. `key share`: the environment is not deleted, and not re-keyed. `no key update`: the same, and others who
 * take this lock wait, which is how counts and settings are changed one after the other. `update`: nothing new gets into the
 * environment, because foreign keys wait.
 */
type Lock = 'key share' | 'no key update' | 'update'

/** Holds the environment until commit. Undefined where it is gone. */
export const lockEnvironment = (db: Tx, env: OfEnvironment, lock: Lock) =>
  db.row<{ protection: Protection | null }>(
    `select ${protectionColumn} from environments e where e.org_id = $1 and e.id = $2 for ${lock}`,
    [env.orgId, env.id],
  )

/** Which of these are there. None of them goes before commit. */
export async function lockEnvironments(db: Tx, orgId: string, ids: string[], now: string): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(
    `select e.id from environments e where e.org_id = $1 and e.id = any($2::text[]) and ${notExpired('$3')}
      order by e.id for key share`,
    [orgId, ids, now],
  )
  return new Set(rows.map(({ id }) => id))
}
