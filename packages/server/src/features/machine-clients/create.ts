import type { Tx } from '../../db/database.ts'
import { newId, newSecret, sha256 } from '../../kernel/context.ts'
import { insertClient, type NewClient } from './store.ts'

/** Makes a machine client. No row contains its secret: the answer is the only place where it appears. */
export async function createClient(db: Tx, client: NewClient) {
  const id = newId('machineClient')
  const clientSecret = newSecret()
  await insertClient(db, { ...client, id, secretHash: sha256(clientSecret) })
  return { id, clientSecret }
}
