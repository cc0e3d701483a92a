import type { Sql, Tx } from '../../db/database.ts'

export const findKeys = (db: Sql, userId: string) =>
  db.row<{ publicKeyJwk: string | null; encryptedPrivateKey: string | null }>(
    'select public_key_jwk, encrypted_private_key from users where id = $1',
    [userId],
  )

/** False where keys are there already; of two uploads at once, one wins. */
export const setKeys = async (db: Tx, userId: string, publicKeyJwk: string, encryptedPrivateKey: string) =>
  (await db.row(
    `update users set public_key_jwk = $2, encrypted_private_key = $3
      where id = $1 and public_key_jwk is null returning id`,
    [userId, publicKeyJwk, encryptedPrivateKey],
  )) !== undefined
