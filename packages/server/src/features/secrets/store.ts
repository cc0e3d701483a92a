import type { Secret } from '@skerry/contract/secrets'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { tokenInForce } from '../../identity/store.ts'
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
       insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
       select $1::text, $2, $3::text, $4::text, 1, $5::text, $9::timestamptz, $9
        where $6::int is null or $6 = 0
           or exists (select from secrets where org_id = $1 and environment_id = $3 and name = $4)
       on conflict (org_id, environment_id, name) do update
         set current_version = secrets.current_version + 1, ciphertext = excluded.ciphertext,
             updated_at = excluded.updated_at
         where $6::int is null or secrets.current_version = $6
       returning id, environment_id, name, ciphertext, current_version, created_at, updated_at
     ), version as (
       insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select $1, id, current_version, ciphertext, $7, $8, updated_at from written
     )
     select id, environment_id, name, ciphertext, current_version as version, created_at, updated_at
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

/** A write as a group takes it along: with all that its checks and its audit entry need. */
export interface GroupedWrite {
  orgId: string
  environmentId: string
  name: string
  id: string
  ciphertext: string
  expectedVersion: number | null
  tokenHash: string
  authorId: string
  auditId: string
  ipAddress: string | null
  userAgent: string | null
  requestId: string | null
}

export interface WrittenRow {
  orgId: string
  id: string
  environmentId: string
  name: string
  version: number
  createdAt: string
  updatedAt: string
}

/**
 * Writes by service tokens, each with its version and its audit entry, in one statement that commits by itself. Answers
 * with those that were made; of the others nothing is left. Their token is not in force or holds no key, their environment
 * is gone or protected, they expected another version, or all would have had to wait for them, as while the environment
 * is being deleted.
 *
 * What is looked up stands in subqueries that are not joined, so it is found by the whole key whatever the statistics say.
 * The insert waits only for whoever is just making a secret of that name, in the order of the keys: groups do not deadlock.
 */
export const writeBatch = (db: Sql, writes: readonly GroupedWrite[], now: string) =>
  db.rows<WrittenRow>(
    `with allowed as (
       select w.*
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[],
                     $9::text[], $10::text[], $11::text[], $12::text[])
              as w (org_id, environment_id, name, id, ciphertext, expected_version, token_hash, author_id, audit_id,
                    ip_address, user_agent, request_id)
        cross join lateral (
          select from environments e
           where e.org_id = w.org_id and e.id = w.environment_id and (e.expires_at is null or e.expires_at > $13)
             and e.required_approvals is null
             for key share skip locked
        ) e
         left join lateral (
          select s.current_version from secrets s
           where s.org_id = w.org_id and s.environment_id = w.environment_id and s.name = w.name
             for no key update skip locked
        ) s on true
        where (select ${tokenInForce('$13')} from service_tokens t where t.token_hash = w.token_hash)
          and (select true from key_grants k
                where k.org_id = w.org_id and k.environment_id = w.environment_id
                  and k.principal_type = 'service_token' and k.principal_id = w.author_id)
          and case when s.current_version is not null
                   then coalesce(w.expected_version, s.current_version) = s.current_version
                   else coalesce(w.expected_version, 0) = 0
                        and (select true from secrets s where s.org_id = w.org_id
                                and s.environment_id = w.environment_id and s.name = w.name) is null
              end
     ), written as (
       insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
       select org_id, id, environment_id, name, 1, ciphertext, $13::timestamptz, $13 from allowed
        order by org_id, environment_id, name
       on conflict (org_id, environment_id, name) do update
         set current_version = secrets.current_version + 1, ciphertext = excluded.ciphertext,
             updated_at = excluded.updated_at
         where not exists (
           select from allowed a
            where (a.environment_id, a.name, a.expected_version) = (excluded.environment_id, excluded.name, 0))
       returning id, environment_id, name, current_version, created_at, updated_at
     ), done as (
       select a.org_id, a.ciphertext, a.author_id, a.audit_id, a.ip_address, a.user_agent, a.request_id, w.*
         from written w join allowed a on (a.environment_id, a.name) = (w.environment_id, w.name)
     ), version as (
       insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select org_id, id, current_version, ciphertext, 'service_token', author_id, updated_at from done
     ), entry as (
       insert into audit_entries (org_id, id, action, actor_type, actor_id, resource_type, resource_id, metadata,
                                  ip_address, user_agent, request_id, created_at)
       select org_id, audit_id, 'secret.written', 'service_token', author_id, 'secret', id,
              jsonb_build_object('environmentId', environment_id, 'name', name, 'version', current_version),
              ip_address, user_agent, request_id, updated_at
         from done
     )
     select org_id, id, environment_id, name, current_version as version, created_at, updated_at from done`,
    [...groupedColumns.map((column) => writes.map((write) => write[column])), now],
  )

const groupedColumns = [
  'orgId',
  'environmentId',
  'name',
  'id',
  'ciphertext',
  'expectedVersion',
  'tokenHash',
  'authorId',
  'auditId',
  'ipAddress',
  'userAgent',
  'requestId',
] as const satisfies (keyof GroupedWrite)[]

export interface StoredSecret {
  id: string
  currentVersion: number
  /** Earlier versions were sealed under keys that the environment no longer has. */
  keySinceVersion: number
}

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

/** Newest first; a cursor's id is the version that the page before ended with. */
export const listVersions = (db: Sql, env: Env, secretId: string, cursor: KeysetCursor) =>
  db.rows<VersionRow>(
    `select version, ciphertext, created_by_type, created_by_id, restored_from_version, created_at
       from secret_versions
      where org_id = $1 and secret_id = $2 and ($3::int is null or version < $3)
      order by version desc limit $4`,
    [env.orgId, secretId, cursor.id === null ? null : Number(cursor.id), cursor.take],
  )

export async function appendVersion(
  db: Tx,
  env: Env,
  secret: StoredSecret,
  version: { ciphertext: string; restoredFrom: number; author: { type: string; id: string }; now: string },
): Promise<Row> {
  const row = await db.row<Row>(
    `with advanced as (
       update secrets set current_version = current_version + 1, ciphertext = $3, updated_at = $7
        where org_id = $1 and id = $2
        returning id, environment_id, name, ciphertext, current_version, created_at, updated_at
     ), version as (
       insert into secret_versions (org_id, secret_id, version, ciphertext, restored_from_version, created_by_type,
                                    created_by_id, created_at)
       select $1, id, current_version, ciphertext, $4::int, $5, $6, updated_at from advanced
     )
     select id, environment_id, name, ciphertext, current_version as version, created_at, updated_at
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
