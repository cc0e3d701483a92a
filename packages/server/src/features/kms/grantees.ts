import type { Tx } from '../../db/database.ts'
import type { Work } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { Org } from '../orgs/scope.ts'
import { deleteHeld, listHeld, listUsable } from './grant-store.ts'

export interface Grantee {
  principalType: 'user' | 'service_token'
  principalId: string
}

/** A key is granted only to people and tokens of this organization who can open it, and once to each. */
export async function checkGrantees(
  { db, org, now }: { db: Tx; org: Org; now: string },
  grantees: readonly Grantee[],
): Promise<void> {
  const usable = new Set((await listUsable(db, org, grantees, now)).map(nameOf))
  const seen = new Set<string>()
  for (const [at, grantee] of grantees.entries()) {
    const place = grantees.length === 1 ? 'principalId' : `grants[${at}].principalId`
    if (seen.has(nameOf(grantee))) throw fail('invalid_request', `body.${place}: named twice`)
    seen.add(nameOf(grantee))
    if (!usable.has(nameOf(grantee)))
      throw fail(
        'invalid_request',
        `body.${place}: not a member who has uploaded keys, nor a service token of this organization that is in force`,
      )
  }
}

const nameOf = ({ principalType, principalId }: { principalType: string; principalId: string }) =>
  `${principalType} ${principalId}`

/** Deletes grants that only a former key pair of the principal can open. The audit log of each key says why. */
export async function dropGrants(
  { db, audit }: { db: Tx; audit: Work<'kms_grant.revoked'>['audit'] },
  orgId: string,
  principal: Grantee,
  cause: 'user.keys_replaced',
): Promise<void> {
  for (const { keyId, versions } of await listHeld(db, { id: orgId }, principal))
    audit('kms_grant.revoked', keyId, { ...principal, versions, cause }, { orgId })
  await deleteHeld(db, { id: orgId }, principal)
}

/** Records in each key's audit log, with the cause, the grants that are about to be deleted with their principal. */
export async function recordDroppedGrants(
  { db, org, audit }: { db: Tx; org: Org; audit: Work<'kms_grant.revoked'>['audit'] },
  principal: Grantee,
  cause: 'member.removed' | 'token.deleted',
): Promise<void> {
  for (const { keyId, versions } of await listHeld(db, org, principal))
    audit('kms_grant.revoked', keyId, { ...principal, versions, cause })
}
