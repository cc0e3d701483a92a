import type { SignInPasskey } from '@skerry/contract/sign-in-passkeys/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'

// All statements that change `sign_in_passkeys`. These passkeys are second factors and ways to sign in.

export type SignInPasskeyRow = Static<typeof SignInPasskey>

export const signInPasskeyColumns = 'id, credential_id, label, created_at, last_used_at'

/** Returns undefined if this person or another one has already registered the credential. */
export const insertSignInPasskey = (
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
  db.row<SignInPasskeyRow>(
    `insert into sign_in_passkeys (id, user_id, credential_id, public_key, sign_count, label, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict do nothing returning ${signInPasskeyColumns}`,
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

export const deleteSignInPasskey = async (db: Tx, userId: string, id: string): Promise<boolean> =>
  (await db.row('delete from sign_in_passkeys where user_id = $1 and id = $2 returning id', [userId, id])) !== undefined

export const useSignInPasskey = (db: Tx, id: string, signCount: number, now: string) =>
  db.rows('update sign_in_passkeys set sign_count = $2, last_used_at = $3 where id = $1', [id, signCount, now])
