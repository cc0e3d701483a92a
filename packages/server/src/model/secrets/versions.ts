import type { Secret } from '@skerry/contract/secrets/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import type { OfEnvironment } from '../environments/table.ts'

// Statements that change `secrets` and `secret_versions` without writing a new value. Those for new values are in
// write.ts.

type SecretRow = Static<typeof Secret>

export interface StoredSecret {
  id: string
  currentVersion: number
  /** Earlier versions were encrypted with keys that the environment no longer has. */
  keySinceVersion: number
}

/** Makes the value of an earlier version current again, as a new version. Lock the secret first. */
export async function appendVersion(
  db: Tx,
  env: OfEnvironment,
  secret: StoredSecret,
  version: { ciphertext: string; restoredFrom: number; author: { type: string; id: string }; now: string },
): Promise<SecretRow> {
  const row = await db.row<SecretRow>(
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
  return row as SecretRow
}

interface Renaming {
  newName: string
  ciphertext: string
  formerNames: string
  author: { type: string; id: string }
  now: string
}

/**
 * Gives a secret another name, under which the new version is encrypted. Earlier versions keep the name that they were
 * encrypted under. Lock the environment with 'update' first, so that nobody creates a secret of the new name meanwhile.
 */
export async function renameSecret(
  db: Tx,
  env: OfEnvironment,
  secretId: string,
  { newName, ciphertext, formerNames, author, now }: Renaming,
): Promise<SecretRow> {
  await db.rows(
    `update secret_versions v set former_name = nullif(coalesce(v.former_name, s.name), $3)
       from secrets s
      where v.org_id = $1 and v.secret_id = $2 and s.org_id = v.org_id and s.id = v.secret_id`,
    [env.orgId, secretId, newName],
  )
  const row = await db.row<SecretRow>(
    `with renamed as (
       update secrets set name = $3, current_version = current_version + 1, ciphertext = $4, former_names = $5,
              updated_at = $8
        where org_id = $1 and id = $2
        returning id, environment_id, name, ciphertext, current_version, created_at, updated_at
     ), version as (
       insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select $1, id, current_version, ciphertext, $6, $7, updated_at from renamed
     )
     select id, environment_id, name, ciphertext, current_version as version, created_at, updated_at from renamed`,
    [env.orgId, secretId, newName, ciphertext, formerNames, author.type, author.id, now],
  )
  return row as SecretRow
}

export const deleteSecret = (db: Tx, env: OfEnvironment, secretId: string) =>
  db.rows('delete from secrets where org_id = $1 and id = $2', [env.orgId, secretId])

interface Resealed {
  id: string
  ciphertext: string
}

const resealOnce = (
  db: Tx,
  env: OfEnvironment,
  secrets: Resealed[],
  by: { author: { type: string; id: string }; now: string },
) =>
  db.rows(
    `with advanced as (
       update secrets s
          set current_version = s.current_version + 1, key_since_version = s.current_version + 1,
              ciphertext = given.ciphertext, former_names = null, updated_at = $4
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

/** The maximum size of one statement: the embedded database keeps each in memory several times. */
const statementCharacters = 4 * 1024 * 1024

/** Writes a new version of each secret, the first one under the new key. */
export function resealSecrets(
  db: Tx,
  env: OfEnvironment,
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
