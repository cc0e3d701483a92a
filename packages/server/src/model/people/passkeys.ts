import type { passkeys } from '@skerry/contract/passkeys/endpoints'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'

// All statements that change `passkeys`, which open a keyring.

export type PasskeyRow = Static<(typeof passkeys.create.responses)[201]>['passkey']

export const passkeyColumns = 'id, credential_id, label, prf_input, encrypted_private_key, created_at'

/** Returns undefined if the credential already exists. */
export const insertPasskey = (db: Tx, userId: string, passkey: PasskeyRow) =>
  db.row<PasskeyRow>(
    `insert into passkeys (user_id, ${passkeyColumns}) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (user_id, credential_id) do nothing returning ${passkeyColumns}`,
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

/**
 * Deletes all passkeys of a person whose key pair is replaced or who is deleted. Passkeys contain the old private key.
 */
export const deletePasskeys = (db: Tx, userId: string) => db.rows('delete from passkeys where user_id = $1', [userId])
