import type { Sql, Tx } from '../../db/database.ts'
import { type RecoveryKitRow, recoveryKitColumns } from '../../model/people/recovery-kits.ts'

export const findKeys = (db: Sql, userId: string) =>
  db.row<{ publicKeyJwk: string | null; encryptedPrivateKey: string | null }>(
    'select public_key_jwk, encrypted_private_key from users where id = $1',
    [userId],
  )

/** Returns the public key of a person. Until commit, nobody else replaces it. */
export const lockKeys = (db: Tx, userId: string) =>
  db.row<{ publicKeyJwk: string | null }>('select public_key_jwk from users where id = $1 for no key update', [userId])

export const findRecoveryKit = (db: Sql, userId: string) =>
  db.row<RecoveryKitRow>(`select ${recoveryKitColumns} from recovery_kits where user_id = $1`, [userId])
