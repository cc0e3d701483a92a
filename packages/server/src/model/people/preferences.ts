import type { Tx } from '../../db/database.ts'

// All statements that change `notification_preferences`.

export const upsertPreferences = (db: Tx, userId: string, types: string[], wanted: boolean[]) =>
  db.rows(
    `insert into notification_preferences (user_id, type, wanted)
     select $1, type, wanted from unnest($2::text[], $3::boolean[]) as given(type, wanted)
     on conflict (user_id, type) do update set wanted = excluded.wanted`,
    [userId, types, wanted],
  )

export const deletePreferences = (db: Tx, userId: string) =>
  db.rows('delete from notification_preferences where user_id = $1', [userId])
