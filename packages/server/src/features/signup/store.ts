import type { Tx } from '../../db/database.ts'

export const insertMachineClient = (
  db: Tx,
  client: { orgId: string; id: string; name: string; secretHash: string; now: string },
) =>
  db.rows('insert into machine_clients (org_id, id, name, secret_hash, created_at) values ($1, $2, $3, $4, $5)', [
    client.orgId,
    client.id,
    client.name,
    client.secretHash,
    client.now,
  ])
