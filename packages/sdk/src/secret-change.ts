import type { ChangeRequest, SecretChange } from './secrets.ts'

/**
 * Returns true if a change request is about one secret, and false if it proposes a re-key. A change request for a
 * re-key has no `secretName`.
 *
 * @example
 * const { changeRequest } = await client.changes.get({ params: { orgId, changeRequestId } })
 * const name = isSecretChange(changeRequest) ? changeRequest.secretName : 'the key'
 */
export const isSecretChange = <C extends ChangeRequest>(change: C): change is C & SecretChange =>
  change.action !== 'rekey'
