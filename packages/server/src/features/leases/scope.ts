import type { Lease as LeaseRow, LeaseTarget as TargetRow } from '@skerry/contract/leases/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type InOrg, type Org, within } from '../orgs/scope.ts'

/** A target with the fields that only the server uses. Only its provisioner gets the wrapped credential. */
export type LeaseTarget = Checked<
  Static<typeof TargetRow> & { orgId: string; wrappedAdminSecret: string; childFailures: number }
>
export type Lease = Checked<Static<typeof LeaseRow> & { orgId: string; verifierDigest: string | null }>

export type OnTarget = InOrg & { target: LeaseTarget }
export type OnLease = InOrg & { lease: Lease }

export const targetColumns = `t.org_id, t.id, t.name, t.provider, t.config, t.wrapped_admin_secret, t.status, t.last_error,
  t.child_failures, t.server, t.notes, t.created_at, t.updated_at`

export const leaseColumns = `l.org_id, l.id, l.target_id, l.provider, l.status, l.resource_ref, l.verifier_digest,
  l.requested_by_type, l.requested_by_id, l.ttl_seconds, l.created_at, l.expires_at, l.revoked_at, l.revoked_by_id,
  l.last_error`

export const findTarget = (db: Sql, org: Pick<Org, 'id'>, targetId: string) =>
  db.row<LeaseTarget>(`select ${targetColumns} from lease_targets t where t.org_id = $1 and t.id = $2`, [
    org.id,
    targetId,
  ])

/** Locks a target against deletion until commit. */
export const lockTarget = (db: Tx, org: Pick<Org, 'id'>, targetId: string) =>
  db.row<LeaseTarget>(`select ${targetColumns} from lease_targets t where t.org_id = $1 and t.id = $2 for key share`, [
    org.id,
    targetId,
  ])

export const findLease = (db: Sql, org: Pick<Org, 'id'>, leaseId: string) =>
  db.row<Lease>(`select ${leaseColumns} from leases l where l.org_id = $1 and l.id = $2`, [org.id, leaseId])

export const target = within<'target', 'targetId', LeaseTarget>(
  'target',
  'targetId',
  'The lease target must belong to the organization',
  findTarget,
)

export const lease = within<'lease', 'leaseId', Lease>(
  'lease',
  'leaseId',
  'The lease must belong to the organization',
  findLease,
)

export function toResponse({ orgId, verifierDigest, ...lease }: Lease) {
  return lease
}
