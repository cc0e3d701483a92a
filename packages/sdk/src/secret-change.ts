import type { ChangeRequest, SecretChange } from './secrets.ts'

/**
 * Tells a change of one secret from a re-key, which has no secret name.
 *
 * @example
 * const { changeRequest } = await client.changes.get({ params: { orgId, changeRequestId } })
 * const name = isSecretChange(changeRequest) ? changeRequest.secretName : 'the key'
 */
export const isSecretChange = <C extends ChangeRequest>(change: C): change is C & SecretChange =>
  change.action !== 'rekey'
