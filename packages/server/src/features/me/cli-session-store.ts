import type { Sql } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'

interface CliSession {
  id: string
  deviceLabel: string
  client: string | null
  ipAddress: string | null
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string
  revokedAt: string | null
}

export const listSessions = (db: Sql, userId: string, { at, id, take }: KeysetCursor) =>
  db.rows<CliSession>(
    `select s.id, s.device_label, s.client, s.ip_address, s.created_at, u.last_used_at, s.expires_at, s.revoked_at
       from cli_sessions s left join cli_session_uses u on u.session_id = s.id
      where s.user_id = $1 and ($2::timestamptz is null or (s.created_at, s.id) < ($2, $3))
      order by s.created_at desc, s.id desc limit $4`,
    [userId, at, id, take],
  )

export const findSession = (db: Sql, userId: string, id: string) =>
  db.row<{ id: string; deviceLabel: string }>(
    'select id, device_label from cli_sessions where user_id = $1 and id = $2',
    [userId, id],
  )
