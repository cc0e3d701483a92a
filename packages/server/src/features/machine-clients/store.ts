import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { actingFor } from '../../model/people/made.ts'
import type { Org } from '../orgs/scope.ts'
import { type Client, clientColumns, clientsWithUses } from './scope.ts'

export const listClients = (db: Sql, org: Org, cursor: KeysetCursor) =>
  db.rows<Client>(
    `select ${clientColumns} from ${clientsWithUses}
      where c.org_id = $1 and ($2::timestamptz is null or (c.created_at, c.id) > ($2, $3))
      order by c.created_at, c.id limit $4`,
    [org.id, cursor.at, cursor.id, cursor.take],
  )

export interface NewClient {
  orgId: string
  name: string
  /** null for the client of an organization that a program signed up */
  createdBy: { type: string; id: string } | null
  now: string
}

export const insertClient = (db: Tx, client: NewClient & { id: string; secretHash: string }) =>
  db.rows(
    `insert into machine_clients (org_id, id, name, secret_hash, created_by_type, created_by_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      client.orgId,
      client.id,
      client.name,
      client.secretHash,
      client.createdBy?.type ?? null,
      client.createdBy?.id ?? null,
      client.now,
    ],
  )

/** Returns false if the client is revoked. */
export const setSecret = async (db: Tx, client: Client, secretHash: string): Promise<boolean> =>
  (await db.row(
    `update machine_clients set secret_hash = $3 where org_id = $1 and id = $2 and revoked_at is null returning id`,
    [client.orgId, client.id, secretHash],
  )) !== undefined

/** Returns false if it was revoked before, so that the first time stays. */
export const revokeClient = async (db: Tx, client: { orgId: string; id: string }, now: string): Promise<boolean> =>
  (await db.row(
    'update machine_clients set revoked_at = $3 where org_id = $1 and id = $2 and revoked_at is null returning id',
    [client.orgId, client.id, now],
  )) !== undefined

export const findClientsMadeBy = (db: Sql, org: Org, userId: string) =>
  db.rows<{ id: string; name: string }>(
    `select id, name from machine_clients
      where org_id = $1 and revoked_at is null
        and id in (select o.id from (${actingFor('$1', '$2')}) o where o.type = 'm2m')
      order by created_at, id`,
    [org.id, userId],
  )
