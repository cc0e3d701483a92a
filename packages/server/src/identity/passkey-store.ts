import type { Sql, Tx } from '../db/database.ts'

export type ChallengePurpose = 'sign_in' | 'enroll' | 'step_up'

export const insertChallenge = (
  db: Tx,
  row: { id: string; purpose: ChallengePurpose; userId: string | null; challenge: string; expiresAt: string },
) =>
  db.rows('insert into challenges (id, purpose, user_id, challenge, expires_at) values ($1, $2, $3, $4, $5)', [
    row.id,
    row.purpose,
    row.userId,
    row.challenge,
    row.expiresAt,
  ])

/** Deletes and returns a challenge. If two answers arrive at once, the second one finds none. */
export const takeChallenge = async (
  db: Tx,
  id: string,
  purpose: ChallengePurpose,
  userId: string | null,
  now: string,
): Promise<string | undefined> =>
  (
    await db.row<{ challenge: string }>(
      `delete from challenges
        where id = $1 and purpose = $2 and user_id is not distinct from $3::text and expires_at > $4
        returning challenge`,
      [id, purpose, userId, now],
    )
  )?.challenge

export const deleteExpiredChallenges = (db: Sql, now: string) =>
  db.rows('delete from challenges where expires_at <= $1', [now])

export interface StoredPasskey {
  id: string
  userId: string
  credentialId: string
  publicKey: string
  signCount: number
}

/** If an issuer is given, finds only a passkey of one of its people. */
export const findPasskey = (db: Sql, credentialId: string, issuer: string | null) =>
  db.row<StoredPasskey & { email: string | null }>(
    `select p.id, p.user_id, p.credential_id, p.public_key, p.sign_count, u.email
       from sign_in_passkeys p join users u on u.id = p.user_id
      where p.credential_id = $1 and ($2::text is null or u.issuer = $2)`,
    [credentialId, issuer],
  )

export const listCredentialIds = async (db: Sql, userId: string): Promise<string[]> =>
  (
    await db.rows<{ credentialId: string }>('select credential_id from sign_in_passkeys where user_id = $1', [userId])
  ).map((row) => row.credentialId)
