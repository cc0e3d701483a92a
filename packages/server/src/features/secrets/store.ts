import type { Secret } from '@skerry/contract/secrets/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { StoredSecret } from '../../model/secrets/versions.ts'
import type { Env } from '../envs/scope.ts'

type Row = Static<typeof Secret>

export const listSecrets = (db: Sql, env: Env, cursor: KeysetCursor) =>
  db.rows<Row>(
    `select id, environment_id, name, ciphertext, current_version as version, created_at, updated_at
       from secrets
      where org_id = $1 and environment_id = $2 and ($3::timestamptz is null or (created_at, id) > ($3, $4))
      order by created_at, id limit $5`,
    [env.orgId, env.id, cursor.at, cursor.id, cursor.take],
  )

/** Lists the secrets with these names first, and then the newest others. */
export const listSome = (db: Sql, env: Env, names: readonly string[], limit: number) =>
  db.rows<{ name: string; ciphertext: string }>(
    `select name, ciphertext from secrets where org_id = $1 and environment_id = $2
      order by name = any($3::text[]) desc, updated_at desc limit $4`,
    [env.orgId, env.id, names, limit],
  )

export const findSecret = (db: Sql, env: Env, name: string) =>
  db.row<StoredSecret>(
    'select id, current_version, key_since_version from secrets where org_id = $1 and environment_id = $2 and name = $3',
    [env.orgId, env.id, name],
  )

export const lockSecret = (db: Tx, env: Env, name: string) =>
  db.row<StoredSecret>(
    'select id, current_version, key_since_version from secrets where org_id = $1 and environment_id = $2 and name = $3 for update',
    [env.orgId, env.id, name],
  )

export const findVersion = (db: Sql, env: Env, secretId: string, version: number) =>
  db.row<{ ciphertext: string; formerName: string | null }>(
    'select ciphertext, former_name from secret_versions where org_id = $1 and secret_id = $2 and version = $3',
    [env.orgId, secretId, version],
  )

interface VersionRow {
  version: number
  ciphertext: string
  createdByType: string
  createdById: string
  restoredFromVersion: number | null
  createdAt: string
  formerName: string | null
}

/** Lists the newest version first. The id of a cursor is the last version of the previous page. */
export const listVersions = (db: Sql, env: Env, secretId: string, cursor: KeysetCursor) =>
  db.rows<VersionRow>(
    `select version, ciphertext, created_by_type, created_by_id, restored_from_version, created_at, former_name
       from secret_versions
      where org_id = $1 and secret_id = $2 and ($3::int is null or version < $3)
      order by version desc limit $4`,
    [env.orgId, secretId, cursor.id === null ? null : Number(cursor.id), cursor.take],
  )

/** Reads the former names alone, because no other query about a secret needs them. */
export const findFormerNames = async (db: Sql, env: Env, secretId: string): Promise<string | null> =>
  (
    await db.row<{ formerNames: string | null }>('select former_names from secrets where org_id = $1 and id = $2', [
      env.orgId,
      secretId,
    ])
  )?.formerNames ?? null

/** The bytes of a secret: of its ciphertext, and of the record of its former names. */
interface Size {
  bytes: number
  recordBytes: number
}

/** The content of an environment, and the sizes of the named secrets, which writes would replace. */
export interface Content {
  secrets: number
  bytes: number
  sizes: Map<string, Size>
}

export async function countContent(
  db: Sql,
  orgId: string,
  environmentId: string,
  names: readonly string[],
): Promise<Content> {
  const row = await db.row<{ secrets: number; bytes: number; sizes: [string, Size][] }>(
    `select count(*) as secrets, coalesce(sum(bytes + record_bytes), 0)::bigint as bytes,
            coalesce(jsonb_agg(jsonb_build_array(name, jsonb_build_object('bytes', bytes, 'recordBytes', record_bytes)))
                       filter (where name = any($3)), '[]') as sizes
       from (select name, octet_length(ciphertext) as bytes, coalesce(octet_length(former_names), 0) as record_bytes
               from secrets where org_id = $1 and environment_id = $2) s`,
    [orgId, environmentId, names],
  )
  return { secrets: row?.secrets ?? 0, bytes: row?.bytes ?? 0, sizes: new Map(row?.sizes) }
}
