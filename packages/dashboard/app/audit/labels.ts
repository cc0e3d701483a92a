/** Returns true for an action that people should notice: denied access, and the use of a decoy. */
export const isAlarming = (action: string): boolean =>
  ['honey_token.tripped', 'env.resolve_denied', 'vault.credential.release_denied'].includes(action)
