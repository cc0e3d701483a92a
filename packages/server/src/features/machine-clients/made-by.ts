import type { Sql, Tx } from '../../db/database.ts'
import type { Work } from '../../http/route.ts'
import { deleteAccessTokens } from '../../identity/store.ts'
import type { Org } from '../orgs/scope.ts'
import { findClientsMadeBy, revokeClient } from './store.ts'

/** Lists the machine clients that a person made and that are not revoked. */
export const listClientsMadeBy = (db: Sql, org: Org, userId: string) => findClientsMadeBy(db, org, userId)

/** Revokes the machine clients that a person made, with their access tokens, and returns them. */
export async function revokeClientsMadeBy(
  { db, org, now, audit }: { db: Tx; org: Org; now: string; audit: Work<'machine_client.revoked'>['audit'] },
  userId: string,
): Promise<{ id: string; name: string }[]> {
  const revoked = []
  for (const { id, name } of await findClientsMadeBy(db, org, userId)) {
    if (!(await revokeClient(db, { orgId: org.id, id }, now))) continue
    await deleteAccessTokens(db, { orgId: org.id, clientId: id })
    audit('machine_client.revoked', id, { name })
    revoked.push({ id, name })
  }
  return revoked
}
