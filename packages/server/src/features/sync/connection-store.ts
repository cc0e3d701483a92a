import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import { connectionLifecycle } from './lifecycle.ts'
import { type Connection, connectionColumns, withKeypair } from './scope.ts'

export const listConnections = (db: Sql, org: Org, { at, id, take }: KeysetCursor) =>
  db.rows<Connection>(
    `select ${connectionColumns} from sync_connections c ${withKeypair}
      where c.org_id = $1 and ($2::timestamptz is null or (c.created_at, c.id) > ($2, $3))
      order by c.created_at, c.id limit $4`,
    [org.id, at, id, take],
  )

export interface NewConnection {
  id: string
  name: string
  provider: string
  config: object
  wrappedCredential: string
  now: string
}

/** Returns false if the id or the name is in use. */
export const insertConnection = async (db: Tx, org: Org, one: NewConnection): Promise<boolean> =>
  (await db.row(
    `insert into sync_connections (org_id, id, name, provider, config, wrapped_credential, status, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, 'unverified', $7, $7) on conflict do nothing returning id`,
    [org.id, one.id, one.name, one.provider, JSON.stringify(one.config), one.wrappedCredential, one.now],
  )) !== undefined

/** Returns false if the connection was deleted or another one has the name. A new credential makes it `unverified`. */
export const updateConnection = async (
  db: Tx,
  { orgId, id, status }: Connection,
  change: { name: string; wrappedCredential: string; isNew: boolean; now: string },
): Promise<boolean> =>
  (await db.row(
    `update sync_connections c
        set name = $3, wrapped_credential = $4, status = case when $5 then $7 else status end,
            last_error = case when $5 then null else last_error end, updated_at = $6
      where c.org_id = $1 and c.id = $2
        and not exists (select from sync_connections o where o.org_id = $1 and o.name = $3 and o.id <> $2)
     returning id`,
    [
      orgId,
      id,
      change.name,
      change.wrappedCredential,
      change.isNew,
      change.now,
      connectionLifecycle.next(status, 'replace'),
    ],
  )) !== undefined

/** Records whether the last call reached the destination. */
export const recordReach = (db: Sql, { orgId, id, status }: Connection, lastError: string | null) =>
  db.rows('update sync_connections set status = $4, last_error = $3 where org_id = $1 and id = $2', [
    orgId,
    id,
    lastError,
    connectionLifecycle.next(status, lastError === null ? 'reach' : 'miss'),
  ])

export const deleteConnection = async (db: Tx, { orgId, id }: Connection): Promise<boolean> =>
  (await db.row('delete from sync_connections where org_id = $1 and id = $2 returning id', [orgId, id])) !== undefined
