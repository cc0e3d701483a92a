import type { WebSession } from '@skerry/contract/sessions/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'

export const listSessions = (db: Sql, userId: string, now: string) =>
  db.rows<Static<typeof WebSession>>(
    `select id, created_at, last_used_at, expires_at, ip_address, user_agent from sessions
      where user_id = $1 and ended_at is null and expires_at > $2
      order by created_at desc, id desc`,
    [userId, now],
  )
