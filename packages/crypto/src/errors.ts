/**
 * Every error code of this package, with its message. Messages are fixed text, so that no input can leak into a log.
 */
const errors = {
  invalid_argument: 'an argument is outside of what this function takes',
  malformed_base64url: 'not unpadded base64url in its one canonical spelling',
  malformed_text: 'text that UTF-8 cannot carry unchanged',
  malformed_blob: 'the blob does not have the shape that its prefix promises',
  unsupported_prefix: 'the blob does not start with the expected prefix',
  decryption_failed: 'wrong key, wrong place, or altered ciphertext',
  malformed_key: 'not a P-256 key in the expected form',
  malformed_token: 'not a service token',
  weak_passphrase: 'the passphrase is too weak to seal a key under',
  kdf_too_weak: 'the sealed key asks for a derivation that makes its passphrase cheap to guess',
  kdf_too_strong: 'the sealed key asks for a derivation that no machine should be made to run',
  reference_cycle: 'secret references form a cycle',
  reference_too_large: 'a secret grows too large when its references are expanded',
  policy_no_signers: 'no signer of policies is pinned, so no policy can be trusted',
  policy_malformed: 'not a signed policy',
  policy_kid_mismatch: 'the policy names another key than the one that it carries',
  policy_unpinned_signer: 'the policy is signed by a key that is not pinned',
  policy_bad_signature: 'the signature is not of this policy',
  policy_unsupported: 'the policy is of a version that is not known here',
  policy_other_org: 'the policy is of another organization',
  policy_other_agent: 'the policy is of another agent',
  policy_expired: 'the policy has expired',
  policy_invalid: 'the policy cannot be signed',
  malformed_proof: 'not a proof of a Merkle tree',
  malformed_checkpoint: 'not a checkpoint of this audit trail',
  unsigned_checkpoint: 'the checkpoint is not signed with the key of the server',
  placeholder_denied: 'a placeholder names a secret that may not be injected here',
  placeholder_unresolved: 'a placeholder names a secret that does not exist',
} as const

/** The stable name of an error. Callers branch on it, never on the message. */
export type CryptoErrorCode = keyof typeof errors

/**
 * The only error that this package throws on purpose.
 *
 * - `code`: stable, one of {@link CryptoErrorCode}.
 * - `subject`: what the error is about, if that is public: a secret's name, or names joined by ` -> `. Never a value,
 *   never key material. When present, it ends the message.
 *
 * @example
 * try { await openSecret(blob, dek, envId, 'API_KEY') }
 * catch (error) { if (error instanceof CryptoError && error.code === 'decryption_failed') throw new Error('grant again') }
 */
export class CryptoError extends Error {
  override readonly name = 'CryptoError'
  readonly code: CryptoErrorCode
  readonly subject: string | undefined

  /** `detail` is fixed text written in the source (which rule was broken), never input. */
  constructor(code: CryptoErrorCode, detail?: string, subject?: string) {
    super([errors[code], detail, subject].filter((part) => part !== undefined).join(': '))
    this.code = code
    this.subject = subject
  }
}
