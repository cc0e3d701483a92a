import type { Sql, Tx } from '../../db/database.ts'
import type { Status, Stored } from './lifecycle.ts'

export interface LoginRequest {
  code: string
  sessionId: string
  tokenHash: string
  deviceLabel: string
  client: string | null
  ipAddress: string | null
  status: Stored
  createdAt: string
  expiresAt: string
}

const requestColumns = 'code, session_id, token_hash, device_label, client, ip_address, status, created_at, expires_at'

/** Returns undefined if the code, the session's id or the hash is in use. */
export const insertRequest = (db: Tx, request: Omit<LoginRequest, 'status'>) =>
  db.row<LoginRequest>(
    `insert into cli_login_requests (${requestColumns})
     select $1, $2::text, $3::text, $4, $5, $6, 'pending', $7::timestamptz, $8::timestamptz
      where not exists (select from cli_sessions where id = $2::text or token_hash = $3::text)
     on conflict do nothing
     returning ${requestColumns}`,
    [
      request.code,
      request.sessionId,
      request.tokenHash,
      request.deviceLabel,
      request.client,
      request.ipAddress,
      request.createdAt,
      request.expiresAt,
    ],
  )

export const isCodeTaken = async (db: Sql, code: string): Promise<boolean> =>
  (await db.row('select 1 from cli_login_requests where code = $1', [code])) !== undefined

export const findRequest = (db: Sql, code: string) =>
  db.row<LoginRequest>(`select ${requestColumns} from cli_login_requests where code = $1`, [code])

/** Locked until commit, so that the second of two decisions sees the first. */
export const lockRequest = (db: Tx, code: string) =>
  db.row<LoginRequest>(`select ${requestColumns} from cli_login_requests where code = $1 for update`, [code])

export const updateRequest = (db: Tx, code: string, status: Status) =>
  db.rows('update cli_login_requests set status = $2 where code = $1', [code, status])

/** Deletes requests that expired so long ago that no device polls for them any more. */
export const deleteEndedRequests = (db: Sql, before: string) =>
  db.rows('delete from cli_login_requests where expires_at <= $1', [before])

/** Returns the facts about the session that the polling device gets. */
export const getApproved = async (db: Sql, sessionId: string) => {
  const row = await db.row<{ email: string | null; expiresAt: string }>(
    'select u.email, s.expires_at from cli_sessions s join users u on u.id = s.user_id where s.id = $1',
    [sessionId],
  )
  if (!row) throw new Error('an approved request has its session')
  return row
}
