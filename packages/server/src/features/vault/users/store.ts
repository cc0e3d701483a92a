import type { Tx } from '../../../db/database.ts'
import { deleteVaultUses } from '../../../identity/vault-store.ts'
import type { Place } from '../connections/scope.ts'

interface Person extends Place {
  userRef: string
}

/** First of all: a capture that is under way holds its session, and its connection is seen once that is gone. */
export const deleteSessions = (db: Tx, { orgId, id, userRef }: Person) =>
  db.rows<{ id: string }>(
    'delete from vault_sessions where org_id = $1 and project_id = $2 and user_ref = $3 returning id',
    [orgId, id, userRef],
  )

/** Held until commit, so that no executor writes a credential back meanwhile. */
export const lockConnections = async (db: Tx, { orgId, id, userRef }: Person): Promise<string[]> =>
  (
    await db.rows<{ id: string }>(
      'select id from vault_connections where org_id = $1 and project_id = $2 and user_ref = $3 order by id for update',
      [orgId, id, userRef],
    )
  ).map((row) => row.id)

export const deleteDeliveries = (db: Tx, orgId: string, connectionIds: string[]) =>
  db.rows('delete from vault_deliveries where org_id = $1 and connection_id = any($2) returning 1', [
    orgId,
    connectionIds,
  ])

/** With every revision of their credentials, and when they were last used. */
export async function deleteConnections(db: Tx, orgId: string, connectionIds: string[]): Promise<void> {
  const values = [orgId, connectionIds]
  await db.rows('delete from vault_credentials where org_id = $1 and connection_id = any($2)', values)
  await deleteVaultUses(db, orgId, connectionIds)
  await db.rows('delete from vault_connections where org_id = $1 and id = any($2)', values)
}
