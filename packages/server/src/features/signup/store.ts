import type { Tx } from '../../db/database.ts'

export interface StoredOrg {
  id: string
  name: string
  slug: string
  createdAt: string
  updatedAt: string
}

/** Undefined where the slug is taken. */
export const insertOrg = (db: Tx, org: { id: string; name: string; slug: string; now: string }) =>
  db.row<StoredOrg>(
    `insert into organizations (id, name, slug, created_at, updated_at) values ($1, $2, $3, $4, $4)
     on conflict (slug) do nothing
     returning id, name, slug, created_at, updated_at`,
    [org.id, org.name, org.slug, org.now],
  )

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
