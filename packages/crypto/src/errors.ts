/** Every code of a {@link CryptoError}, with its message. Messages are fixed texts, so no input gets into a log. */
export const cryptoErrors = {
  invalid_argument: 'an argument is not valid',
  malformed_base64url: 'the text is not canonical base64url without padding',
  malformed_text: 'the text is not valid UTF-8',
  malformed_blob: 'the encrypted text is malformed',
  unsupported_prefix: 'the text does not start with the expected prefix',
  decryption_failed: 'decryption failed, because the key is wrong or the ciphertext was moved or changed',
  malformed_key: 'the key is malformed',
  malformed_token: 'the text is not a service token',
  malformed_code: 'the code is not valid',
  weak_passphrase: 'the passphrase is too weak',
  kdf_too_weak: 'the sealed key uses a key derivation so weak that its passphrase is easy to guess',
  kdf_too_strong: 'the sealed key uses a key derivation that needs too much memory or time',
  reference_cycle: 'secret references form a cycle',
  reference_too_large: 'a secret is too large after its references are expanded',
  policy_no_signers: 'the settings name no signer of policies, so no policy can be trusted',
  policy_malformed: 'the text is not a signed policy',
  policy_kid_mismatch: 'the policy contains a key and a key id that do not match',
  policy_unpinned_signer: 'the policy is signed with a key that the settings do not name',
  policy_bad_signature: 'the signature of the policy is not valid',
  policy_unsupported: 'the policy has a version that this program does not support',
  policy_other_org: 'the policy belongs to another organization',
  policy_other_agent: 'the policy belongs to another agent',
  policy_expired: 'the policy has expired',
  policy_invalid: 'the policy is not valid, so it was not signed',
  malformed_proof: 'the Merkle proof is malformed',
  malformed_checkpoint: 'the text is not a checkpoint of this audit log',
  unsigned_checkpoint: 'the checkpoint is not signed with the server’s key',
  other_checkpoint_key: 'the checkpoint is signed with a key that this client does not know',
  directory_malformed: 'the text is not a document of the directory',
  directory_unsupported: 'the directory needs a newer version of this program',
  directory_other_org: 'the directory belongs to another organization',
  directory_unpinned: 'the directory does not continue from the root that this client trusts',
  directory_broken_chain: 'two documents of the directory do not follow each other',
  directory_unsigned: 'a document of the directory lacks signatures',
  directory_rolled_back: 'the directory is older than the directory that this client saw before',
  directory_stale: 'the newest head of the directory is too old',
  directory_from_future: 'the newest head of the directory is dated in the future',
  directory_too_weak: 'the organization does not accept this form of token',
  directory_unproven: 'the signed directory does not contain this entry',
  directory_missing: 'the server shows no signed directory, but this client relies on one',
  directory_mismatch: 'the server’s answer differs from the signed directory',
  malformed_pin: 'the text is not a pin of a root',
  not_authentic: 'the text was changed, or was made with another code or key',
  authentic_expired: 'the text is authentic, but has expired',
  placeholder_denied: 'a placeholder names a secret that the request may not use',
  placeholder_unresolved: 'a placeholder names a secret that does not exist',
} as const

/** The code of a {@link CryptoError}. In your program, compare the code and not the message. */
export type CryptoErrorCode = keyof typeof cryptoErrors

/**
 * The error that all functions of `@skerry/crypto` throw. Functions of the SDK can throw it, too.
 *
 * - `code`: one of {@link CryptoErrorCode}. A code keeps its meaning in later versions.
 * - `subject`: the name of the secret that the error is about, or several names joined by ` -> `. It never contains a
 *   value or a key. The message of the error ends with `subject`.
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
    super([cryptoErrors[code], detail, subject].filter((part) => part !== undefined).join(': '))
    this.code = code
    this.subject = subject
  }
}
