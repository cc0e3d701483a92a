import type { DeletedSecret, Secret } from '@skerry/contract/secrets/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import type { OfEnvironment } from '../environments/table.ts'

// Statements that change `deleted_secrets` and `deleted_secret_versions`, where a deleted secret is kept with its
// versions until somebody restores it or its time is over.

export type DeletedRow = Static<typeof DeletedSecret>

export const deletedColumns = `id, environment_id, name, current_version as version,
  key_since_version <= current_version as restorable, deleted_by_type, deleted_by_id, deleted_at, kept_until`

/** SQL condition on `deleted_secrets d`: it is still kept, and its value opens with the key of the environment. */
export const isRestorable = (now: `$${number}`) => `d.kept_until > ${now} and d.key_since_version <= d.current_version`

interface Author {
  type: string
  id: string
}

/** Deletes a secret and keeps it with its versions. Lock the environment, then the secret, first. */
export async function keepSecret(
  db: Tx,
  env: OfEnvironment,
  secretId: string,
  { author, now, keptUntil }: { author: Author; now: string; keptUntil: string },
): Promise<DeletedRow> {
  const row = await db.row<DeletedRow>(
    `with gone as (
       delete from secrets where org_id = $1 and id = $2
        returning id, environment_id, name, former_names, current_version, key_since_version, created_at
     ), version as (
       insert into deleted_secret_versions (org_id, secret_id, version, former_name, ciphertext, created_by_type,
                                            created_by_id, restored_from_version, created_at)
       select v.org_id, v.secret_id, v.version, v.former_name, v.ciphertext, v.created_by_type, v.created_by_id,
              v.restored_from_version, v.created_at
         from gone join secret_versions v on v.org_id = $1 and v.secret_id = gone.id
     )
     insert into deleted_secrets (org_id, id, environment_id, name, former_names, current_version, key_since_version,
                                  created_at, deleted_by_type, deleted_by_id, deleted_at, kept_until)
     select $1, id, environment_id, name, former_names, current_version, key_since_version, created_at, $3, $4,
            $5::timestamptz, $6
       from gone
     returning ${deletedColumns}`,
    [env.orgId, secretId, author.type, author.id, now, keptUntil],
  )
  return row as DeletedRow
}

/**
 * Brings a deleted secret back with its versions. The new ciphertext of its value is a new version, so that the history
 * shows who restored it and nothing that was based on the old version applies. Returns undefined if the name is in use.
 * Lock the deleted secret first.
 */
export async function restoreDeleted(
  db: Tx,
  env: OfEnvironment,
  deleted: Pick<DeletedRow, 'id'>,
  { ciphertext, author, now }: { ciphertext: string; author: Author; now: string },
): Promise<Static<typeof Secret> | undefined> {
  const row = await db.row<Static<typeof Secret>>(
    `with restored as (
       insert into secrets (org_id, id, environment_id, name, former_names, current_version, ciphertext,
                            key_since_version, created_at, updated_at)
       select org_id, id, environment_id, name, former_names, current_version + 1, $6, key_since_version, created_at,
              $3::timestamptz
         from deleted_secrets where org_id = $1 and id = $2
       on conflict (org_id, environment_id, name) do nothing
       returning id, environment_id, name, ciphertext, current_version, created_at, updated_at
     ), version as (
       insert into secret_versions (org_id, secret_id, version, former_name, ciphertext, created_by_type, created_by_id,
                                    restored_from_version, created_at)
       select v.org_id, v.secret_id, v.version, v.former_name, v.ciphertext, v.created_by_type, v.created_by_id,
              v.restored_from_version, v.created_at
         from restored join deleted_secret_versions v on v.org_id = $1 and v.secret_id = restored.id
       union all
       select $1, id, current_version, null, $6, $4, $5, current_version - 1, updated_at from restored
     )
     select id, environment_id, name, ciphertext, current_version as version, created_at, updated_at from restored`,
    [env.orgId, deleted.id, now, author.type, author.id, ciphertext],
  )
  if (row) await purgeSecret(db, env, deleted)
  return row
}

/** Deletes a deleted secret for good. */
export const purgeSecret = (db: Tx, env: OfEnvironment, deleted: Pick<DeletedRow, 'id'>) =>
  db.rows('delete from deleted_secrets where org_id = $1 and id = $2', [env.orgId, deleted.id])

/** Purges some secrets whose time is over. */
export const purgeExpired = (db: Tx, now: string, limit: number) =>
  db.rows<{ orgId: string; id: string; environmentId: string; name: string; version: number }>(
    `delete from deleted_secrets
      where (org_id, id) in (
        select org_id, id from deleted_secrets where kept_until <= $1 order by kept_until limit $2 for update skip locked)
     returning org_id, id, environment_id, name, current_version as version`,
    [now, limit],
  )

/** Notes that the environment has a new key. A deleted secret is not encrypted again, just as old versions are not. */
export const markLost = (db: Tx, env: OfEnvironment) =>
  db.rows(
    `update deleted_secrets set key_since_version = current_version + 1, former_names = null
      where org_id = $1 and environment_id = $2`,
    [env.orgId, env.id],
  )
