import type { Override, OverrideCount } from '@skerry/contract/overrides/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { Env } from '../envs/scope.ts'

export type OverrideRow = Static<typeof Override>

/** An override as a client encrypted it. */
export interface SealedOverride {
  wrappedKey: string
  ciphertext: string
}

const columns = 'id, environment_id, wrapped_key, ciphertext, revision, created_at, updated_at'

export const listOverrides = (db: Sql, env: Env, userId: string) =>
  db.rows<OverrideRow>(
    `select ${columns} from overrides where org_id = $1 and environment_id = $2 and user_id = $3 order by id`,
    [env.orgId, env.id, userId],
  )

export const listRevisions = (db: Sql, env: Env, userId: string) =>
  db.rows<{ id: string; revision: number }>(
    'select id, revision from overrides where org_id = $1 and environment_id = $2 and user_id = $3 order by id',
    [env.orgId, env.id, userId],
  )

/** Returns the public key of the person. A replacement of the key pair waits until commit. */
export const lockPublicKey = async (db: Tx, userId: string): Promise<string | null> =>
  (await db.row<{ publicKeyJwk: string | null }>('select public_key_jwk from users where id = $1 for share', [userId]))
    ?.publicKeyJwk ?? null

export const findOverride = (db: Sql, env: Env, userId: string, id: string) =>
  db.row<OverrideRow>(
    `select ${columns} from overrides where org_id = $1 and environment_id = $2 and user_id = $3 and id = $4`,
    [env.orgId, env.id, userId, id],
  )

export const countOverrides = (db: Sql, env: Env) =>
  db.rows<Static<typeof OverrideCount>>(
    `select o.user_id, coalesce(u.name, u.email) as name, count(*) as count
       from overrides o join users u on u.id = o.user_id
      where o.org_id = $1 and o.environment_id = $2
      group by o.user_id, u.name, u.email order by count(*) desc, o.user_id`,
    [env.orgId, env.id],
  )

export const listSizes = (db: Tx, env: Env, userId: string) =>
  db.rows<{ id: string; characters: number }>(
    `select id, length(ciphertext) as characters from overrides
      where org_id = $1 and environment_id = $2 and user_id = $3`,
    [env.orgId, env.id, userId],
  )

export async function insertOverride(
  db: Tx,
  env: Env,
  { id, userId, sealed, now }: { id: string; userId: string; sealed: SealedOverride; now: string },
): Promise<OverrideRow> {
  const row = await db.row<OverrideRow>(
    `insert into overrides (org_id, id, environment_id, user_id, wrapped_key, ciphertext, revision, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, 1, $7, $7) returning ${columns}`,
    [env.orgId, id, env.id, userId, sealed.wrappedKey, sealed.ciphertext, now],
  )
  if (!row) throw new Error('an insert returns its row')
  return row
}

/** Returns undefined if the override was deleted, or is not at this revision. */
export const updateOverride = (
  db: Tx,
  env: Env,
  { id, revision, sealed, now }: { id: string; revision: number; sealed: SealedOverride; now: string },
) =>
  db.row<OverrideRow>(
    `update overrides set wrapped_key = $4, ciphertext = $5, revision = revision + 1, updated_at = $6
      where org_id = $1 and environment_id = $2 and id = $3 and revision = $7 returning ${columns}`,
    [env.orgId, env.id, id, sealed.wrappedKey, sealed.ciphertext, now, revision],
  )

export const deleteOverride = async (db: Tx, env: Env, id: string): Promise<boolean> =>
  (await db.row('delete from overrides where org_id = $1 and environment_id = $2 and id = $3 returning id', [
    env.orgId,
    env.id,
    id,
  ])) !== undefined

export const deleteOfPerson = (db: Tx, userId: string) =>
  db.rows<{ orgId: string }>('delete from overrides where user_id = $1 returning org_id', [userId])
