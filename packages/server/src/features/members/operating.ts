import type { Tx } from '../../db/database.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { deleteMembership, insertMembership, putRole, type Role } from '../../model/people/memberships.ts'
import type { Org } from '../orgs/scope.ts'
import { listRoles } from './store.ts'

// Changes of membership by operators, who have no role in the organization. The caller writes the audit entries.

/** Makes a person an owner, and a member if need be. Returns the previous role, or null if they were not a member. */
export async function raiseToOwner(db: Tx, org: Org, userId: string, now: string): Promise<Role | null> {
  await lockOrg(db, org)
  const from = (await listRoles(db, org, [userId])).find((row) => row.userId === userId)?.role ?? null
  if (from === null) await insertMembership(db, org.id, userId, 'owner', now)
  else if (from !== 'owner') await putRole(db, org, userId, 'owner')
  return from
}

/** Moves a membership to a person who has none in this organization. The key grants of the first person are deleted. */
export async function moveMembership(
  db: Tx,
  org: Org,
  { from, to, role, now }: { from: string; to: string; role: Role; now: string },
): Promise<void> {
  await insertMembership(db, org.id, to, role, now)
  await deleteMembership(db, org, from)
}
