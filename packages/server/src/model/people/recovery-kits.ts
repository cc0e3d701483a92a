import type { RecoveryKit } from '@skerry/contract/me/recovery-kit'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'

// All statements that change `recovery_kits`, which open a keyring.

export type RecoveryKitRow = Static<typeof RecoveryKit>

export const recoveryKitColumns = 'encrypted_private_key, created_at'

/** Stores a kit in place of an earlier one. Returns false if this very kit is stored already. */
export const putRecoveryKit = async (db: Tx, userId: string, kit: RecoveryKitRow): Promise<boolean> =>
  (await db.row(
    `insert into recovery_kits (user_id, ${recoveryKitColumns}) values ($1, $2, $3)
     on conflict (user_id) do update set encrypted_private_key = $2, created_at = $3
       where recovery_kits.encrypted_private_key <> $2
     returning user_id`,
    [userId, kit.encryptedPrivateKey, kit.createdAt],
  )) !== undefined

/**
 * Deletes the kit, also that of a person whose key pair is replaced or who is deleted. Returns false if there was none.
 */
export const deleteRecoveryKit = async (db: Tx, userId: string): Promise<boolean> =>
  (await db.row('delete from recovery_kits where user_id = $1 returning user_id', [userId])) !== undefined

/** Gives a person the kit from an archive, unless they have another key pair or a kit here. */
export const restoreRecoveryKit = (db: Tx, row: Record<string, unknown>) =>
  db.rows(
    `insert into recovery_kits (user_id, ${recoveryKitColumns})
     select id, $3, $4 from users where id = $1 and public_key_jwk = $2
     on conflict (user_id) do nothing`,
    [row.id, row.publicKeyJwk, row.recoveryKit, row.recoveryKitCreatedAt],
  )
