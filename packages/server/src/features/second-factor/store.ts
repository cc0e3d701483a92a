import type { Sql, Tx } from '../../db/database.ts'

export interface TotpRow {
  userId: string
  sealedSecret: string
  createdAt: string
  confirmedAt: string | null
}

export const findTotp = (db: Sql, userId: string) =>
  db.row<TotpRow>('select user_id, sealed_secret, created_at, confirmed_at from totp_factors where user_id = $1', [
    userId,
  ])

/** Replaces an enrolment that was never confirmed. Returns false if the existing one is confirmed. */
export const upsertTotp = async (db: Tx, userId: string, sealedSecret: string, now: string): Promise<boolean> =>
  (await db.row(
    `insert into totp_factors (user_id, sealed_secret, created_at) values ($1, $2, $3)
     on conflict (user_id) do update set sealed_secret = $2, created_at = $3, last_used_step = null
       where totp_factors.confirmed_at is null
     returning user_id`,
    [userId, sealedSecret, now],
  )) !== undefined

/** Returns false if a code of this step or a later one was used before. Of two uses at once, one succeeds. */
export const takeStep = async (db: Tx, userId: string, step: number): Promise<boolean> =>
  (await db.row(
    `update totp_factors set last_used_step = $2
      where user_id = $1 and (last_used_step is null or last_used_step < $2) returning user_id`,
    [userId, step],
  )) !== undefined

export const confirmTotp = (db: Tx, userId: string, now: string) =>
  db.rows('update totp_factors set confirmed_at = $2 where user_id = $1', [userId, now])

export async function deleteTotp(db: Tx, userId: string): Promise<boolean> {
  const row = await db.row(
    'delete from totp_factors where user_id = $1 and confirmed_at is not null returning user_id',
    [userId],
  )
  if (row) await db.rows('delete from recovery_codes where user_id = $1', [userId])
  return row !== undefined
}

export const deleteRecoveryCodes = (db: Tx, userIds: readonly string[]) =>
  db.rows('delete from recovery_codes where user_id = any($1::text[])', [userIds])

export async function replaceRecoveryCodes(db: Tx, userId: string, hashes: string[]): Promise<void> {
  await db.rows('delete from recovery_codes where user_id = $1', [userId])
  await db.rows('insert into recovery_codes (user_id, code_hash) select $1, unnest($2::text[])', [userId, hashes])
}

export const takeRecoveryCode = async (db: Tx, userId: string, hashes: string[], now: string): Promise<boolean> =>
  (await db.row(
    `update recovery_codes set used_at = $3
      where user_id = $1 and code_hash = any($2::text[]) and used_at is null returning user_id`,
    [userId, hashes, now],
  )) !== undefined

export async function countFactors(db: Sql, userId: string) {
  const row = await db.row<{ totp: boolean; recoveryCodesLeft: number; signInPasskeys: number }>(
    `select exists (select from totp_factors where user_id = $1 and confirmed_at is not null) as totp,
            (select count(*)::int from recovery_codes where user_id = $1 and used_at is null) as recovery_codes_left,
            (select count(*)::int from sign_in_passkeys where user_id = $1) as sign_in_passkeys`,
    [userId],
  )
  return row ?? { totp: false, recoveryCodesLeft: 0, signInPasskeys: 0 }
}
