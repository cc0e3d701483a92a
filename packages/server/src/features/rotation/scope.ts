import type { Rotation as RotationRow } from '@skerry/contract/rotation/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo, type Principal } from '../../kernel/principal.ts'
import { type InOrg, type Org, within } from '../orgs/scope.ts'

export type Rotation = Checked<Static<typeof RotationRow> & { orgId: string }>
export type OnRotation = InOrg & { rotation: Rotation }

export const rotationColumns = `p.org_id, p.id, p.environment_id, p.secret_name, p.kind, p.config, p.interval_seconds,
  p.target_id, p.status, p.last_run_at, p.next_run_at, p.last_version, p.last_error, p.failure_streak, p.created_at,
  p.updated_at`

/** Finds no policy whose environment has just been deleted. */
const findRotation = (db: Sql, org: Pick<Org, 'id'>, rotationId: string) =>
  db.row<Rotation>(
    `select ${rotationColumns} from rotation_policies p
      where p.org_id = $1 and p.id = $2 and p.environment_id is not null`,
    [org.id, rotationId],
  )

const found = within<'rotation', 'rotationId', Rotation>(
  'rotation',
  'rotationId',
  'The rotation policy must belong to the organization',
  findRotation,
)

/** A bound token may manage rotation only in its own environment. */
export function checkBound(principal: Principal, environmentId: string): void {
  const bound = boundTo(principal)
  if (bound !== null && bound !== environmentId) throw fail('forbidden', 'this token is bound to another environment')
}

/** Adds the rotation policy in the path. A bound token reaches only policies of its own environment. */
export const rotation = <N extends string>(base: Access<InOrg, N>): Access<OnRotation, N | 'rotationId'> =>
  narrowed(
    'ofOwnEnv',
    'A service token that is bound to an environment can use only the rotation policies of this environment',
    found(base),
    async (scope) => {
      checkBound(scope.principal, scope.rotation.environmentId)
      return scope
    },
  )
