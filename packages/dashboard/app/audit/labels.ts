/** Whether people should notice the action: denied access, and the use of a decoy. */
export const isAlarming = (action: string): boolean =>
  ['honey_token.tripped', 'env.resolve_denied', 'vault.credential.release_denied'].includes(action)
