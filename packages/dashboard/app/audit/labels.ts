import { auditActions } from '@skerry/contract/actions'

/** Returns the label of an action. An action of a newer server has no label here, so its name is returned. */
export const actionLabel = (action: string): string =>
  Object.hasOwn(auditActions, action) ? auditActions[action as keyof typeof auditActions].label : action

/** Whether people should notice the action: denied access, and the use of a honey token. */
export const isAlarming = (action: string): boolean =>
  ['honey_token.tripped', 'env.resolve_denied', 'vault.credential.release_denied'].includes(action)
