import type { Tx } from '../../db/database.ts'
import type { Session } from '../../kernel/principal.ts'

// All statements that change `cli_sessions`.

interface Device {
  sessionId: string
  tokenHash: string
  deviceLabel: string
  client: string | null
  ipAddress: string | null
}

export const insertCliSession = (
  db: Tx,
  { sessionId, tokenHash, deviceLabel, client, ipAddress }: Device,
  by: { userId: string; session: Session },
  at: { createdAt: string; expiresAt: string },
) =>
  db.rows(
    `insert into cli_sessions (id, user_id, token_hash, device_label, client, ip_address, second_factor, mfa_at,
                               created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      sessionId,
      by.userId,
      tokenHash,
      deviceLabel,
      client,
      ipAddress,
      by.session.secondFactor,
      by.session.mfaAt,
      at.createdAt,
      at.expiresAt,
    ],
  )

/** Returns false if it was already revoked. The first instant is kept. */
export const revokeCliSession = async (db: Tx, id: string, now: string): Promise<boolean> =>
  (await db.row('update cli_sessions set revoked_at = $2 where id = $1 and revoked_at is null returning id', [
    id,
    now,
  ])) !== undefined

/** Revokes all sessions of a person. */
export const revokeCliSessions = (db: Tx, userId: string, now: string) =>
  db.rows('update cli_sessions set revoked_at = $2 where user_id = $1 and revoked_at is null', [userId, now])

export const deleteCliSessions = (db: Tx, userId: string) =>
  db.rows('delete from cli_sessions where user_id = $1', [userId])
