import type { Tx } from '../../db/database.ts'
import { newId, newSecret, sha256 } from '../../kernel/context.ts'
import { insertClient } from './store.ts'

/** A new machine client. Its secret is in no row: the answer is the one place where it stands. */
export async function createClient(db: Tx, client: { orgId: string; name: string; now: string }) {
  const id = newId('machineClient')
  const clientSecret = newSecret()
  await insertClient(db, { ...client, id, secretHash: sha256(clientSecret) })
  return { id, clientSecret }
}
