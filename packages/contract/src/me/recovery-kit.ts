import { del, get, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Blob, Instant, Nullable, Ok, PublicKeyJwk, Strict } from '../schema.ts'

const SealedUnderCode = Blob(limits.sealedPrivateKeyCharacters, 'pk3')

export const RecoveryKit = Strict({ encryptedPrivateKey: SealedUnderCode, createdAt: Instant })

/**
 * The recovery kit is a printed code that opens the keyring. The server stores the private key sealed under the code, as
 * it does for a passphrase, and never gets the code.
 */
export const recoveryKit = {
  get: get('/v1/me/keys/recovery-kit', {
    summary: 'Get the caller’s private key, encrypted with the code of the recovery kit. Without a kit, `kit` is null',
    responses: { 200: Strict({ kit: Nullable(RecoveryKit) }) },
    refuses: ['forbidden'],
  }),
  put: put('/v1/me/keys/recovery-kit', {
    summary:
      'Store a recovery kit: the private key, encrypted with a code that the person prints or saves. The kit replaces an earlier kit. If you have a second factor, you must have entered it within the last ten minutes',
    body: Strict({ encryptedPrivateKey: SealedUnderCode, publicKeyJwk: PublicKeyJwk }),
    responses: { 200: Strict({ kit: RecoveryKit }) },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.recovery_kit_made'],
  }),
  delete: del('/v1/me/keys/recovery-kit', {
    summary:
      'Remove the recovery kit. Its code stops working. If you have a second factor, you must have entered it within the last ten minutes',
    responses: { 200: Ok },
    refuses: ['forbidden', 'mfa_required', 'not_found'],
    audits: ['user.recovery_kit_removed'],
  }),
}
