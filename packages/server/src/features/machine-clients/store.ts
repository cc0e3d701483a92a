import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import { type Client, clientColumns, clientsWithUses } from './scope.ts'

export const listClients = (db: Sql, org: Org, cursor: KeysetCursor) =>
  db.rows<Client>(
    `select ${clientColumns} from ${clientsWithUses}
      where c.org_id = $1 and ($2::timestamptz is null or (c.created_at, c.id) > ($2, $3))
      order by c.created_at, c.id limit $4`,
    [org.id, cursor.at, cursor.id, cursor.take],
  )

export const insertClient = (
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

/** Returns false if the client is revoked. */
export const setSecret = async (db: Tx, client: Client, secretHash: string): Promise<boolean> =>
  (await db.row(
    `update machine_clients set secret_hash = $3 where org_id = $1 and id = $2 and revoked_at is null returning id`,
    [client.orgId, client.id, secretHash],
  )) !== undefined

/** Returns false if it was revoked before, so that the first time stays. */
export const revokeClient = async (db: Tx, client: Client, now: string): Promise<boolean> =>
  (await db.row(
    'update machine_clients set revoked_at = $3 where org_id = $1 and id = $2 and revoked_at is null returning id',
    [client.orgId, client.id, now],
  )) !== undefined
