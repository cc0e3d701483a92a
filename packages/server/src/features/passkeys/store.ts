import type { Sql, Tx } from '../../db/database.ts'
import { type PasskeyRow, passkeyColumns } from '../../model/people/passkeys.ts'

export const listPasskeys = (db: Sql, userId: string) =>
  db.rows<PasskeyRow>(`select ${passkeyColumns} from passkeys where user_id = $1 order by created_at, id`, [userId])

/** Locks the person, so that passkeys that are added at the same time are counted one after the other. */
export const lockUser = (db: Tx, userId: string) =>
  db.rows('select 1 from users where id = $1 for no key update', [userId])

export async function countPasskeys(db: Tx, userId: string): Promise<number> {
  const row = await db.row<{ count: number }>('select count(*) as count from passkeys where user_id = $1', [userId])
  return row?.count ?? 0
}
