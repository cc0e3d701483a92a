import type { Sql } from '../../db/database.ts'

export const findKeys = (db: Sql, userId: string) =>
  db.row<{ publicKeyJwk: string | null; encryptedPrivateKey: string | null }>(
    'select public_key_jwk, encrypted_private_key from users where id = $1',
    [userId],
  )
