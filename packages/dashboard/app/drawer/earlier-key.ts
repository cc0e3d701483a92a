import { KeyringError } from '../keyring.ts'

/**
 * Explains why an earlier version does not open. A re-key seals only the current version again, so earlier ones stay
 * under the old key.
 *
 * @param subject The beginning of the sentence: `this version was`.
 */
export function explainEarlier(error: unknown, subject: string): unknown {
  if (!(error instanceof KeyringError) || error.code !== 'decryption_failed') return error
  return new KeyringError(error.code, `${subject} sealed under an earlier key, or altered`)
}
