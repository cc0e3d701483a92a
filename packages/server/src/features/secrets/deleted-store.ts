import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { type DeletedRow, deletedColumns } from '../../model/secrets/deleted.ts'
import type { Env } from '../envs/scope.ts'

/** Lists the latest deletion first. */
export const listDeleted = (db: Sql, env: Env, now: string, cursor: KeysetCursor) =>
  db.rows<DeletedRow & { ciphertext: string | null }>(
    `select ${deletedColumns},
            case when key_since_version <= current_version then (
              select v.ciphertext from deleted_secret_versions v
               where v.org_id = d.org_id and v.secret_id = d.id and v.version = d.current_version
            ) end as ciphertext
       from deleted_secrets d
      where org_id = $1 and environment_id = $2 and kept_until > $3
        and ($4::timestamptz is null or (deleted_at, id) < ($4, $5))
      order by deleted_at desc, id desc limit $6`,
    [env.orgId, env.id, now, cursor.at, cursor.id, cursor.take],
  )

/** A deleted secret with the size of the record of its former names, which a restore brings back. */
export type LockedDeleted = DeletedRow & { recordBytes: number }

/** Locks a deleted secret, so that it is restored or purged once. */
export const lockDeleted = (db: Tx, env: Env, secretId: string, now: string) =>
  db.row<LockedDeleted>(
    `select ${deletedColumns}, coalesce(octet_length(former_names), 0) as record_bytes
       from deleted_secrets
      where org_id = $1 and environment_id = $2 and id = $3 and kept_until > $4 for update`,
    [env.orgId, env.id, secretId, now],
  )

export async function countDeleted(db: Sql, env: Env): Promise<number> {
  const row = await db.row<{ kept: number }>(
    'select count(*) as kept from deleted_secrets where org_id = $1 and environment_id = $2',
    [env.orgId, env.id],
  )
  return row?.kept ?? 0
}
