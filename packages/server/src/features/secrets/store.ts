import type { Secret } from '@skerry/contract/secrets'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { Mark } from '../../http/page.ts'
import type { Env } from '../../http/scope.ts'

type Row = Static<typeof Secret>

export const listSecrets = (db: Sql, env: Env, mark: Mark) =>
  db.rows<Row>(
    `select s.id, s.environment_id, s.name, v.ciphertext, v.version, s.created_at, s.updated_at
       from secrets s
       join secret_versions v on v.org_id = s.org_id and v.secret_id = s.id and v.version = s.current_version
      where s.org_id = $1 and s.environment_id = $2
        and ($3::timestamptz is null or (s.created_at, s.id) > ($3, $4))
      order by s.created_at, s.id limit $5`,
    [env.orgId, env.id, mark.at, mark.id, mark.take],
  )

export interface Write {
  id: string
  name: string
  ciphertext: string
  expectedVersion: number | null
  author: { type: string; id: string }
  now: string
}

/**
 * One round trip for a create or an update. Undefined where the secret is not at the expected version: an expected 0
 * only inserts, any other only updates. Writers of one name wait for each other at the row; writers of others do not.
 */
export const writeSecret = (db: Tx, env: Env, write: Write) =>
  db.row<Row>(
    `with written as (
       insert into secrets (org_id, id, environment_id, name, current_version, created_at, updated_at)
       select $1::text, $2, $3::text, $4::text, 1, $9::timestamptz, $9
        where $6::int is null or $6 = 0
           or exists (select from secrets where org_id = $1 and environment_id = $3 and name = $4)
       on conflict (org_id, environment_id, name) do update
         set current_version = secrets.current_version + 1, updated_at = excluded.updated_at
         where $6::int is null or secrets.current_version = $6
       returning id, environment_id, name, current_version, created_at, updated_at
     ), version as (
       insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select $1, id, current_version, $5::text, $7, $8, updated_at from written
     )
     select id, environment_id, name, $5::text as ciphertext, current_version as version, created_at, updated_at
       from written`,
    [
      env.orgId,
      write.id,
      env.id,
      write.name,
      write.ciphertext,
      write.expectedVersion,
      write.author.type,
      write.author.id,
      write.now,
    ],
  )

interface StoredSecret {
  id: string
  currentVersion: number
}

export const findSecret = (db: Sql, env: Env, name: string) =>
  db.row<StoredSecret>(
    'select id, current_version from secrets where org_id = $1 and environment_id = $2 and name = $3',
    [env.orgId, env.id, name],
  )

export const lockSecret = (db: Tx, env: Env, name: string) =>
  db.row<StoredSecret>(
    'select id, current_version from secrets where org_id = $1 and environment_id = $2 and name = $3 for update',
    [env.orgId, env.id, name],
  )

export const findVersion = (db: Sql, env: Env, secretId: string, version: number) =>
  db.row<{ ciphertext: string }>(
    'select ciphertext from secret_versions where org_id = $1 and secret_id = $2 and version = $3',
    [env.orgId, secretId, version],
  )

interface VersionRow {
  version: number
  ciphertext: string
  createdByType: string
  createdById: string
  restoredFromVersion: number | null
  createdAt: string
}

/** Newest first; a mark's id is the version that the page before ended with. */
export const listVersions = (db: Sql, env: Env, secretId: string, mark: Mark) =>
  db.rows<VersionRow>(
    `select version, ciphertext, created_by_type, created_by_id, restored_from_version, created_at
       from secret_versions
      where org_id = $1 and secret_id = $2 and ($3::int is null or version < $3)
      order by version desc limit $4`,
    [env.orgId, secretId, mark.id === null ? null : Number(mark.id), mark.take],
  )

export async function appendVersion(
  db: Tx,
  env: Env,
  secret: StoredSecret,
  version: { ciphertext: string; restoredFrom: number; author: { type: string; id: string }; now: string },
): Promise<Row> {
  const row = await db.row<Row>(
    `with advanced as (
       update secrets set current_version = current_version + 1, updated_at = $7
        where org_id = $1 and id = $2 returning id, environment_id, name, current_version, created_at, updated_at
     ), version as (
       insert into secret_versions (org_id, secret_id, version, ciphertext, restored_from_version, created_by_type,
                                    created_by_id, created_at)
       select $1, id, current_version, $3::text, $4::int, $5, $6, updated_at from advanced
     )
     select id, environment_id, name, $3::text as ciphertext, current_version as version, created_at, updated_at
       from advanced`,
    [
      env.orgId,
      secret.id,
      version.ciphertext,
      version.restoredFrom,
      version.author.type,
      version.author.id,
      version.now,
    ],
  )
  return row as Row
}

export const deleteSecret = (db: Tx, env: Env, secretId: string) =>
  db.rows('delete from secrets where org_id = $1 and id = $2', [env.orgId, secretId])
