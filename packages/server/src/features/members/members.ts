import type { members } from '@skerry/contract/members/endpoints'
import type { Tx } from '../../db/database.ts'
import type { In, Out, Work } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { deleteMembership, putRole, type Role } from '../../model/people/memberships.ts'
import { recordDroppedGrants } from '../kms/grantees.ts'
import type { InOrg } from '../orgs/scope.ts'
import { removeCustodian } from '../recovery/custodians.ts'
import { getMember, hasOwner, listGrantedEnvironments, listRoles } from './store.ts'

export async function update(input: In<typeof members.update, InOrg>): Out<typeof members.update> {
  const { db, org, params, body, audit } = input
  const from = await mayBecome(input, params.userId, body.role)
  if (from !== body.role) {
    // An organization that a program signed up has no owner. Its first admin in person becomes the owner, invited or
    // not.
    const to = body.role === 'admin' && !(await hasOwner(db, org)) ? 'owner' : body.role
    await putRole(db, org, params.userId, to)
    audit('member.role_changed', params.userId, { from, to })
  }
  return { member: await getMember(db, org, params.userId) }
}

/**
 * Removes a member and their key grants. The person may have kept the keys, so the audit log lists the environments. It
 * also keeps the address and the name that the person has now, because nobody here may see later ones. The caller has
 * checked the removal with `mayBecome`, which returned the role.
 */
export async function removeMember(input: Removing, userId: string, role: Role): Promise<void> {
  const { db, org, audit } = input
  const { email, name } = await getMember(db, org, userId)
  const environmentIds = await listGrantedEnvironments(db, org, userId)
  await removeCustodian(input, org.id, userId, 'member.removed')
  await recordDroppedGrants(input, { principalType: 'user', principalId: userId }, 'member.removed')
  await deleteMembership(db, org, userId)
  audit('member.removed', userId, { role, email, name, environmentIds })
}

type Removing = InOrg &
  Pick<Work<'member.removed' | 'kms_grant.revoked' | 'recovery.custodian_removed'>, 'db' | 'audit'>

export async function remove(input: In<typeof members.remove, InOrg>): Out<typeof members.remove> {
  const { userId } = input.params
  await removeMember(input, userId, await mayBecome(input, userId, null))
  return { ok: true }
}

/**
 * Returns the member’s role if the caller may change it to `to`; null removes the member. The caller’s own role is read
 * again under the lock, because another owner may just have changed it.
 */
export async function mayBecome(
  { db, org, principal, role }: InOrg & { db: Tx },
  userId: string,
  to: Role | null,
): Promise<Role> {
  await lockOrg(db, org)
  const rows = await listRoles(db, org, [userId, principal.id])
  const roles = new Map(rows.map((row) => [row.userId, row.role]))
  const from = roles.get(userId)
  if (!from) throw fail('not_found', 'no such member')
  const by = principal.type === 'user' ? roles.get(principal.id) : role
  const isLeaving = to === null && principal.id === userId
  const isOwnersAffair = from === 'owner' || to === 'owner'
  if (!isLeaving && by !== 'owner' && by !== 'admin') throw fail('forbidden', 'this needs the admin role')
  if (!isLeaving && isOwnersAffair && by !== 'owner')
    throw fail('forbidden', 'only an owner may add, change or remove an owner')
  const owners = rows.filter((row) => row.role === 'owner')
  if (from === 'owner' && to !== 'owner' && owners.length === 1)
    throw fail('conflict', 'this is the last owner: make another member an owner first')
  return from
}
