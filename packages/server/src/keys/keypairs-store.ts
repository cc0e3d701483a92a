import type { Sql } from '../db/database.ts'

/** The owner of a key pair: the organization for leases and for rotation, a connection for sync. */
export type KeyOwner =
  | { orgId: string; purpose: 'broker' | 'rotator'; id: string }
  | { orgId: string; purpose: 'sync'; id: string }

export interface StoredKeypair {
  publicKeyJwk: string
  sealedPrivateKey: string
}

export const findKeypair = (db: Sql, { orgId, purpose, id }: KeyOwner) =>
  db.row<StoredKeypair>(
    'select public_key_jwk, sealed_private_key from server_keypairs where org_id = $1 and purpose = $2 and owner_id = $3',
    [orgId, purpose, id],
  )

/** Does nothing if there already is a key pair: the second of two callers uses that of the first. */
export const insertKeypair = (db: Sql, { orgId, purpose, id }: KeyOwner, keypair: StoredKeypair, now: string) =>
  db.rows(
    `insert into server_keypairs (org_id, purpose, owner_id, public_key_jwk, sealed_private_key, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [orgId, purpose, id, keypair.publicKeyJwk, keypair.sealedPrivateKey, now],
  )

export const deleteKeypair = (db: Sql, { orgId, purpose, id }: KeyOwner) =>
  db.rows('delete from server_keypairs where org_id = $1 and purpose = $2 and owner_id = $3', [orgId, purpose, id])

/**
 * Deletes key pairs that were requested and never used, together with the grants to them. Nobody can have made such a
 * grant.
 */
export const forgetUnusedKeypairs = (db: Sql, before: string) =>
  db.rows(
    `delete from server_keypairs k
      where k.purpose = 'sync' and k.created_at < $1
        and not exists (select from sync_connections c where c.org_id = k.org_id and c.id = k.owner_id)`,
    [before],
  )
