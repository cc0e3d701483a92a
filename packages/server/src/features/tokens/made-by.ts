import type { Sql, Tx } from '../../db/database.ts'
import type { Work } from '../../http/route.ts'
import { revokeToken } from '../../model/tokens/write.ts'
import type { Org } from '../orgs/scope.ts'
import { findTokensMadeBy, listGrantedEnvironments } from './store.ts'

/** Lists the tokens that a person made and that are not revoked. */
export const listTokensMadeBy = (db: Sql, org: Org, userId: string) => findTokensMadeBy(db, org, userId)

/** Revokes the tokens that a person made, and returns them. */
export async function revokeTokensMadeBy(
  { db, org, now, audit }: { db: Tx; org: Org; now: string; audit: Work<'token.revoked'>['audit'] },
  userId: string,
): Promise<{ id: string; name: string }[]> {
  const revoked = []
  for (const { id, name } of await findTokensMadeBy(db, org, userId)) {
    const token = { orgId: org.id, id }
    if (!(await revokeToken(db, token, now))) continue
    audit('token.revoked', id, { name, environmentIds: await listGrantedEnvironments(db, token) })
    revoked.push({ id, name })
  }
  return revoked
}
