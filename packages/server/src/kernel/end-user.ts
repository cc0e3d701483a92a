import { sha256 } from './context.ts'

/**
 * The audit log names a product's user by this digest, never by the product's own id. Its entries cannot be deleted, and stay
 * when the person is erased.
 *
 * @example endUserDigest('vpj_...', 'user-1')
 */
export const endUserDigest = (projectId: string, userRef: string): string =>
  sha256(`skerry/vault-user/v1/${projectId}/${userRef}`)
