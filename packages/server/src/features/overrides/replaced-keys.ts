import type { Tx } from '../../db/database.ts'
import { deleteOfPerson } from './store.ts'

/** Deletes overrides that only a former key pair of the person can open. Returns how many each organization had. */
export async function dropOverrides(db: Tx, userId: string): Promise<Map<string, number>> {
  const dropped = new Map<string, number>()
  for (const { orgId } of await deleteOfPerson(db, userId)) dropped.set(orgId, (dropped.get(orgId) ?? 0) + 1)
  return dropped
}
