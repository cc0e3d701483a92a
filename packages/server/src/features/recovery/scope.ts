import type { RecoveryRequest as RequestRow } from '@skerry/contract/recovery/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { type InOrg, isAdmin, type Org, within } from '../orgs/scope.ts'

export type Recovery = Checked<{
  recoveryPublicKeyJwk: string
  threshold: number
  shares: number
  createdAt: string
  rotatedAt: string | null
  lastDrillAt: string | null
}>
export type RecoveryRequest = Checked<Static<typeof RequestRow>>
/** A custodian, with the share that only that custodian can open. */
export type Custodian = Checked<{ userId: string; shareIndex: number; wrappedShare: string }>

export type InRecovery = InOrg & { recovery: Recovery }
export type OnRequest = InOrg & { recoveryRequest: RecoveryRequest }

/**
 * Columns of `recovery_requests r` at the instant in the parameter `now`. A request whose time is up shows as expired,
 * even before the sweep.
 */
export const requestColumns = (now: `$${number}`) => `r.id,
  case when r.status = 'open' and r.expires_at <= ${now} then 'expired' else r.status end as status,
  r.drill, r.target_public_key_jwk, r.target_type, r.target_id, r.reason, r.threshold,
  (select count(*) from recovery_contributions c where c.org_id = r.org_id and c.request_id = r.id)::integer as contributed,
  r.requested_by_type, r.requested_by_id, r.created_at, r.expires_at`

/** Reads without a lock. A handler that depends on the current key locks the row itself, with `lockRecovery`. */
export const findRecovery = (db: Sql, org: Pick<Org, 'id'>) =>
  db.row<Recovery>(
    `select recovery_public_key_jwk, threshold, shares, created_at, rotated_at, last_drill_at
       from recoveries where org_id = $1`,
    [org.id],
  )

const findCustodian = (db: Sql, org: Org, userId: string) =>
  db.row<Custodian>(
    'select user_id, share_index, wrapped_share from recovery_custodians where org_id = $1 and user_id = $2',
    [org.id, userId],
  )

const findRequest = (db: Sql, org: Org, id: string, now: string) =>
  db.row<RecoveryRequest>(`select ${requestColumns('$3')} from recovery_requests r where r.org_id = $1 and r.id = $2`, [
    org.id,
    id,
    now,
  ])

/** Admits a caller only if the organization has set recovery up. */
export const recovered = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S & InRecovery, N> =>
  narrowed('recovered', 'The organization must have set up recovery', base, async (scope: S, { db }) => {
    const recovery = await findRecovery(db, scope.org)
    if (!recovery) throw fail('not_found', 'recovery is not set up')
    return { ...scope, recovery }
  })

/** Admits only a member who holds a share of the recovery key. */
export const custodian = <S extends InOrg, N extends string>(
  base: Access<S, N>,
): Access<S & { custodian: Custodian }, N> =>
  narrowed(
    'custodian',
    'The caller must be a person who has a share of the recovery key',
    base,
    async (scope: S, { db }) => {
      const found = await findCustodian(db, scope.org, scope.principal.id)
      if (!found) throw fail('forbidden', 'this needs a share of the recovery key')
      return { ...scope, custodian: found }
    },
  )

export const recoveryRequest = within<'recoveryRequest', 'recoveryRequestId', RecoveryRequest>(
  'recoveryRequest',
  'recoveryRequestId',
  'The recovery request must belong to the organization',
  findRequest,
  'recovery request',
)

const isTarget = ({ principal }: InOrg, request: RecoveryRequest): boolean =>
  request.targetType === principal.type && request.targetId === principal.id

/** Whether the caller is an admin of the organization as a whole. A bound token is an admin of its environment only. */
export const isOrgAdmin = (scope: InOrg): boolean => isAdmin(scope) && boundTo(scope.principal) === null

export const isCustodian = async (db: Sql, { org, principal }: InOrg): Promise<boolean> =>
  (await findCustodian(db, org, principal.id)) !== undefined

/** Admits an admin, a custodian, or the target of any request, open or closed. */
export const anyParty = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'anyParty',
    'The caller must be an admin, a custodian, or the target of a recovery request',
    base,
    async (scope: S, { db }) => {
      const { org, principal } = scope
      if (!isOrgAdmin(scope) && !(await isCustodian(db, scope)) && !(await isAnyTarget(db, org, principal)))
        throw fail('forbidden', 'this needs the admin role, a share of the recovery key, or a recovery for you')
      return scope
    },
  )

const isAnyTarget = async (db: Sql, org: Org, { type, id }: InOrg['principal']): Promise<boolean> =>
  (await db.row('select 1 from recovery_requests where org_id = $1 and target_type = $2 and target_id = $3 limit 1', [
    org.id,
    type,
    id,
  ])) !== undefined

/** Admits an admin, the target of the request, or a custodian while the request is open. */
export const party = <S extends OnRequest, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'party',
    'The caller must be an admin, the target of the request, or a custodian. A custodian can use the request only while it is open',
    base,
    async (scope, { db }) => {
      const { recoveryRequest: request } = scope
      const mayLook =
        isOrgAdmin(scope) || isTarget(scope, request) || (request.status === 'open' && (await isCustodian(db, scope)))
      if (!mayLook)
        throw fail('forbidden', 'this needs the admin role, a share of the recovery key, or to be the target')
      return scope
    },
  )

/** Admits an admin, or the target of the request. */
export const adminOrTarget = <S extends OnRequest, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed('adminOrTarget', 'The caller must be an admin or the target of the request', base, async (scope) => {
    if (!isOrgAdmin(scope) && !isTarget(scope, scope.recoveryRequest))
      throw fail('forbidden', 'only an admin or the person whom the recovery is for may do this')
    return scope
  })

/** Admits an admin, or the target of an open request to which enough custodians have given their shares. */
export const adminOrReadyTarget = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'adminOrReadyTarget',
    'The caller must be an admin, or the target of an open recovery request to which enough custodians have contributed their shares',
    base,
    async (scope: S, { db, context }) => {
      if (!isOrgAdmin(scope) && !(await isReadyTarget(db, scope, context.now().toISOString())))
        throw fail('forbidden', 'this needs the admin role, or a recovery for you that has enough shares')
      return scope
    },
  )

const isReadyTarget = async (db: Sql, { org, principal }: InOrg, now: string): Promise<boolean> =>
  (await db.row(
    `select 1 from recovery_requests r
      where r.org_id = $1 and r.target_type = $2 and r.target_id = $3 and r.status = 'open' and r.expires_at > $4
        and r.threshold <= (select count(*) from recovery_contributions c
                             where c.org_id = r.org_id and c.request_id = r.id)`,
    [org.id, principal.type, principal.id, now],
  )) !== undefined
