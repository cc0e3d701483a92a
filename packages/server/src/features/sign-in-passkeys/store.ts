import type { SignInPasskey } from '@skerry/contract/second-factor'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'

type Row = Static<typeof SignInPasskey>
const columns = 'id, credential_id, label, created_at, last_used_at'

export const listPasskeys = (db: Sql, userId: string) =>
  db.rows<Row>(`select ${columns} from sign_in_passkeys where user_id = $1 order by created_at, id`, [userId])

/** Locks the person, so that two passkeys at once are counted one after the other. */
export async function countPasskeys(db: Tx, userId: string): Promise<number> {
  await db.rows('select 1 from users where id = $1 for update', [userId])
  const row = await db.row<{ n: number }>('select count(*)::int as n from sign_in_passkeys where user_id = $1', [
    userId,
  ])
  return row?.n ?? 0
}

/** Undefined where the credential is registered already, by this person or another. */
export const insertPasskey = (
  db: Tx,
  passkey: {
    id: string
    userId: string
    credentialId: string
    publicKey: string
    signCount: number
    label: string
    now: string
  },
) =>
  db.row<Row>(
    `insert into sign_in_passkeys (id, user_id, credential_id, public_key, sign_count, label, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict do nothing returning ${columns}`,
    [
      passkey.id,
      passkey.userId,
      passkey.credentialId,
      passkey.publicKey,
      passkey.signCount,
      passkey.label,
      passkey.now,
    ],
  )

export const deletePasskey = async (db: Tx, userId: string, id: string): Promise<boolean> =>
  (await db.row('delete from sign_in_passkeys where user_id = $1 and id = $2 returning id', [userId, id])) !== undefined
