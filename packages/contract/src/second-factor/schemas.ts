import { Type } from 'typebox'
import { Strict } from '../schema.ts'
import { ChallengeId, WebAuthnResponse } from '../sign-in/schemas.ts'

export const TotpCode = Type.String({
  pattern: '^\\d{6}$',
  description: 'The code of the authenticator app: six digits',
})

/** Ten characters of base32 in two halves: `4XK7P-M2QRA`. */
export const RecoveryCode = Type.String({
  pattern: '^[A-Z2-7]{5}-[A-Z2-7]{5}$',
  description: 'A recovery code, such as `4XK7P-M2QRA`',
})

/** A second factor as a person enters it: exactly one of the three. */
export const EnteredFactor = Strict({
  code: Type.Optional(TotpCode),
  recoveryCode: Type.Optional(RecoveryCode),
  passkey: Type.Optional({
    ...Strict({ challengeId: ChallengeId, response: WebAuthnResponse }),
    description: 'The answer of a passkey to a challenge',
  }),
})
