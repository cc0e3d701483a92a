import type { ChangeRequest } from '@skerry/contract/changes/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { notExpired } from '../../model/environments/table.ts'
import { ownGrant } from '../../model/grants/table.ts'
import { inReach, reachOfBoundTokens } from '../envs/scope.ts'
import { type InOrg, isAdmin, type Org } from '../orgs/scope.ts'

export type Change = Checked<
  Static<typeof ChangeRequest> & { orgId: string; baseSecretId: string | null; baseState: string | null }
>

/**
 * Columns of `change_requests c left join key_grants k`, where `k` is the caller's own grant. Without a grant there is
 * no ciphertext: a former holder still has the key, and must not get what was encrypted with it since.
 */
export const changeColumns = `c.id, c.environment_id, c.secret_name, c.action,
  case when k.id is not null then c.ciphertext end as ciphertext, c.restore_version, c.keep_for,
  c.deleted_secret_id, c.base_version, c.note,
  c.group_id, c.group_size, c.proposed_by_type, c.proposed_by_id, c.required_approvals, c.allow_self_approval, c.status, c.created_at, c.closed_at`

const findChange = (db: Sql, org: Org, changeRequestId: string, principal: Principal, now: string) =>
  db.row<Change>(
    `select c.org_id, c.base_secret_id, c.base_state, ${changeColumns}
       from change_requests c
       join environments e on e.org_id = c.org_id and e.id = c.environment_id
       left join key_grants k on ${ownGrant('$3', '$4', '$5')}
      where c.org_id = $1 and c.id = $2 and ${notExpired('$5')}`,
    [org.id, changeRequestId, principal.type, principal.id, now],
  )

/** Finds a change request. A change request of an expired environment counts as missing. */
export const change = <S extends InOrg, N extends string>(
  base: Access<S, N>,
): Access<S & { change: Change }, N | 'changeRequestId'> =>
  narrowed(
    'change',
    `The change request must belong to the organization${reachOfBoundTokens(base, 'change requests')}`,
    base,
    async (scope: S, { db, context }, params: Record<N | 'changeRequestId', string>) => {
      const now = context.now().toISOString()
      const found = await findChange(db, scope.org, params.changeRequestId, scope.principal, now)
      if (!found) throw fail('not_found', 'no such change request')
      const env = { orgId: found.orgId, id: found.environmentId }
      return { ...(await inReach(db, scope, env, 'admin' in base.words)), change: found }
    },
  )

/** Allows the person, token or machine client that proposed the change, and admins. */
export const proposerOrAdmin = <S extends InOrg & { change: Change }, N extends string>(
  base: Access<S, N>,
): Access<S, N> =>
  narrowed('proposerOrAdmin', 'The caller must be an admin, or must have proposed the change', base, async (scope) => {
    if (!isAdmin(scope) && !isProposer(scope.principal, scope.change))
      throw fail('forbidden', 'only an admin or the proposer of the change may do this')
    return scope
  })

export const isProposer = ({ type, id }: Principal, change: Change): boolean =>
  type === change.proposedByType && id === change.proposedById
