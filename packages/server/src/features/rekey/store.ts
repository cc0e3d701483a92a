import type { Sql, Tx } from '../../db/database.ts'
import { type Env, isUnprotected } from '../envs/scope.ts'

/** Keeps new secrets and new grants out until commit: their foreign keys wait for this row. */
export const lockEnv = (db: Tx, env: Env) =>
  db.row<{ isProtected: boolean }>(
    `select not (${isUnprotected}) as is_protected from environments e where e.org_id = $1 and e.id = $2 for update`,
    [env.orgId, env.id],
  )

export const lockSecrets = (db: Tx, env: Env) =>
  db.rows<{ id: string; name: string; currentVersion: number }>(
    `select id, name, current_version from secrets where org_id = $1 and environment_id = $2 order by id for update`,
    [env.orgId, env.id],
  )

export interface Holder {
  id: string
  principalType: string
  principalId: string
  wrappedDek: string
  /** A member with keys, a token in force, or a reader of the server, which holds grants for as long as it has a key. */
  able: boolean
}

export const lockHolders = (db: Sql, env: Env, now: string) =>
  db.rows<Holder>(
    `select k.id, k.principal_type, k.principal_id, k.wrapped_dek,
            case k.principal_type
              when 'user' then exists (
                select from memberships m join users u on u.id = m.user_id
                 where m.org_id = k.org_id and m.user_id = k.principal_id and u.public_key_jwk is not null)
              when 'service_token' then exists (
                select from service_tokens t
                 where t.org_id = k.org_id and t.id = k.principal_id and t.revoked_at is null and t.deleted_at is null
                   and (t.expires_at is null or t.expires_at > $3))
              else true
            end as able
       from key_grants k where k.org_id = $1 and k.environment_id = $2 order by k.id for update`,
    [env.orgId, env.id, now],
  )

interface Resealed {
  id: string
  ciphertext: string
}

const resealOnce = (db: Tx, env: Env, secrets: Resealed[], by: { author: { type: string; id: string }; now: string }) =>
  db.rows(
    `with advanced as (
       update secrets s
          set current_version = s.current_version + 1, key_since_version = s.current_version + 1,
              ciphertext = given.ciphertext, updated_at = $4
         from unnest($2::text[], $3::text[]) as given(id, ciphertext)
        where s.org_id = $1 and s.id = given.id
       returning s.id, s.current_version, given.ciphertext
     )
     insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
     select $1, id, current_version, ciphertext, $5, $6, $4 from advanced`,
    [
      env.orgId,
      secrets.map(({ id }) => id),
      secrets.map(({ ciphertext }) => ciphertext),
      by.now,
      by.author.type,
      by.author.id,
    ],
  )

/** What one statement carries: the embedded database holds each in memory several times over. */
const statementCharacters = 4 * 1024 * 1024

/** A new version for each, the first one under the new key. */
export function resealSecrets(
  db: Tx,
  env: Env,
  secrets: Resealed[],
  by: { author: { type: string; id: string }; now: string },
): Promise<unknown>[] {
  const batches: Resealed[][] = []
  let room = 0
  for (const secret of secrets) {
    if (room < secret.ciphertext.length) {
      batches.push([])
      room = statementCharacters
    }
    room -= secret.ciphertext.length
    batches.at(-1)?.push(secret)
  }
  return batches.map((batch) => resealOnce(db, env, batch, by))
}

export const rewrapGrants = (
  db: Tx,
  env: Env,
  grants: { id: string; wrappedDek: string }[],
  by: { type: string; id: string },
) =>
  db.rows(
    `update key_grants k set wrapped_dek = given.wrapped_dek, granted_by_type = $4, granted_by_id = $5
       from unnest($2::text[], $3::text[]) as given(id, wrapped_dek)
      where k.org_id = $1 and k.id = given.id`,
    [env.orgId, grants.map(({ id }) => id), grants.map(({ wrappedDek }) => wrappedDek), by.type, by.id],
  )

export const deleteOtherGrants = (db: Tx, env: Env, kept: { id: string }[]) =>
  db.rows('delete from key_grants where org_id = $1 and environment_id = $2 and id <> all($3::text[])', [
    env.orgId,
    env.id,
    kept.map(({ id }) => id),
  ])
