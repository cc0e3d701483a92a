import { CryptoError } from '@skerry/crypto/errors'
import { type Dek, openSecret } from '@skerry/crypto/secret'

/** Decrypts one secret of many. A failure stops the whole operation, so the error names the secret. */
export async function openNamed(ciphertext: string, dek: Dek, environmentId: string, name: string): Promise<string> {
  try {
    return await openSecret(ciphertext, dek, environmentId, name)
  } catch (error) {
    if (error instanceof CryptoError) throw new CryptoError(error.code, undefined, name)
    throw error
  }
}
