import type { Tx } from '../../../db/database.ts'
import { deleteVaultUses } from '../../../identity/vault-store.ts'
import type { Place } from '../connections/scope.ts'

interface Person extends Place {
  userRef: string
}

/**
 * Must run first. A capture that is under way locks its session, so this delete waits for it and its connection is
 * found afterwards.
 */
export const deleteSessions = (db: Tx, { orgId, id, userRef }: Person) =>
  db.rows<{ id: string }>(
    'delete from vault_sessions where org_id = $1 and project_id = $2 and user_ref = $3 returning id',
    [orgId, id, userRef],
  )

/** Locks the connections until commit, so that no executor writes a credential back meanwhile. */
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

/** Deletes connections with every revision of their credentials and their times of last use. */
export async function deleteConnections(db: Tx, orgId: string, connectionIds: string[]): Promise<void> {
  const values = [orgId, connectionIds]
  await db.rows('delete from vault_credentials where org_id = $1 and connection_id = any($2)', values)
  await deleteVaultUses(db, orgId, connectionIds)
  await db.rows('delete from vault_connections where org_id = $1 and id = any($2)', values)
}
