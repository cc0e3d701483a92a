import type { Sql, Tx } from '../../db/database.ts'
import type { Work } from '../../http/route.ts'
import type { Org } from '../orgs/scope.ts'
import { deleteInvitesConcerning, findInvitesConcerning } from './invites-store.ts'

/** Lists the pending invitations that a person sent, and one that waits for the person. */
export const listInvitesConcerning = async (db: Sql, org: Org, userId: string, now: string) =>
  (await findInvitesConcerning(db, org, userId, now)).map(named)

const named = ({ id, email }: { id: string; email: string }) => ({ id, name: email })

/** Revokes these invitations, and returns them. */
export async function revokeInvitesConcerning(
  { db, org, now, audit }: { db: Tx; org: Org; now: string; audit: Work<'invite.revoked'>['audit'] },
  userId: string,
): Promise<{ id: string; name: string }[]> {
  const revoked = await deleteInvitesConcerning(db, org, userId, now)
  for (const { id, email, role } of revoked) audit('invite.revoked', id, { email, role })
  return revoked.map(named)
}
