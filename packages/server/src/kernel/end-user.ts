import { sha256 } from './context.ts'

/**
 * Computes the digest by which the audit log names a product's user, instead of the product's own id. Audit entries
 * cannot be deleted, and are kept when the person is erased.
 *
 * @example endUserDigest('vpj_...', 'user-1')
 */
export const endUserDigest = (projectId: string, userRef: string): string =>
  sha256(`skerry/vault-user/v1/${projectId}/${userRef}`)
