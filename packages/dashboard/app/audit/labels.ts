import { auditActions } from '@skerry/contract/actions'

/** The label of an action, or its name where a newer server wrote it. */
export const actionLabel = (action: string): string =>
  Object.hasOwn(auditActions, action) ? auditActions[action as keyof typeof auditActions].label : action

/** Actions that people should notice: access that ended or was refused, and decoys that were tried. */
export const isAlarming = (action: string): boolean =>
  ['honey_token.tripped', 'env.resolve_denied', 'vault.credential.release_denied'].includes(action)

export const actorLabels: Record<string, string> = {
  user: 'member',
  service_token: 'service token',
  m2m: 'machine client',
  vault_platform: 'vault platform key',
  vault_executor: 'vault executor',
  vault_end_user: 'end user',
  system: 'Skerry itself',
}
