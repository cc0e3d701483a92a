import type { Sql, Tx } from '../../../db/database.ts'
import type { Work } from '../../../http/route.ts'
import type { Org } from '../../orgs/scope.ts'
import { listKeysMadeBy, revokeKey } from './store.ts'

/** Lists the platform keys that a person made and that are not revoked. */
export const listPlatformKeysMadeBy = (db: Sql, org: Org, userId: string): Promise<{ id: string; name: string }[]> =>
  listKeysMadeBy(db, org, userId)

/** Revokes the platform keys that a person made, and returns them. */
export async function revokePlatformKeysMadeBy(
  { db, org, now, audit }: { db: Tx; org: Org; now: string; audit: Work<'vault.key.revoked'>['audit'] },
  userId: string,
): Promise<{ id: string; name: string }[]> {
  const revoked = []
  for (const key of await listKeysMadeBy(db, org, userId)) {
    if (!(await revokeKey(db, key, now))) continue
    audit('vault.key.revoked', key.id, { name: key.name, projectId: key.projectId })
    revoked.push({ id: key.id, name: key.name })
  }
  return revoked
}
