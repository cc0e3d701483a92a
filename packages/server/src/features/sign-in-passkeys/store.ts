import type { Sql, Tx } from '../../db/database.ts'
import { type SignInPasskeyRow, signInPasskeyColumns } from '../../model/people/sign-in-passkeys.ts'

export const listPasskeys = (db: Sql, userId: string) =>
  db.rows<SignInPasskeyRow>(
    `select ${signInPasskeyColumns} from sign_in_passkeys where user_id = $1 order by created_at, id`,
    [userId],
  )

/** Locks the person, so that two passkeys at once are counted one after the other. */
export async function countPasskeys(db: Tx, userId: string): Promise<number> {
  await db.rows('select 1 from users where id = $1 for update', [userId])
  const row = await db.row<{ n: number }>('select count(*)::int as n from sign_in_passkeys where user_id = $1', [
    userId,
  ])
  return row?.n ?? 0
}
