import type { passkeys } from '@skerry/contract/passkeys'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'

type Row = Static<(typeof passkeys.create.responses)[201]>['passkey']

const columns = 'id, credential_id, label, prf_input, encrypted_private_key, created_at'

export const listPasskeys = (db: Sql, userId: string) =>
  db.rows<Row>(`select ${columns} from passkeys where user_id = $1 order by created_at, id`, [userId])

/** Those who would add a passkey of one person at once wait here for each other, so that all count right. */
export const lockUser = (db: Tx, userId: string) =>
  db.rows('select 1 from users where id = $1 for no key update', [userId])

export async function countPasskeys(db: Tx, userId: string): Promise<number> {
  const row = await db.row<{ count: number }>('select count(*) as count from passkeys where user_id = $1', [userId])
  return row?.count ?? 0
}

/** Undefined where the credential is there already. */
export const insertPasskey = (db: Tx, userId: string, passkey: Row) =>
  db.row<Row>(
    `insert into passkeys (user_id, ${columns}) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (user_id, credential_id) do nothing returning ${columns}`,
    [
      userId,
      passkey.id,
      passkey.credentialId,
      passkey.label,
      passkey.prfInput,
      passkey.encryptedPrivateKey,
      passkey.createdAt,
    ],
  )

export const deletePasskey = (db: Tx, userId: string, id: string) =>
  db.row<{ label: string }>('delete from passkeys where user_id = $1 and id = $2 returning label', [userId, id])
