import type { ActionRow } from '../action.ts'

export const actions = {
  'user.keys_uploaded': { about: 'user', evicts: 'none', group: 'people', label: 'Keys made' },
  'user.keys_resealed': { about: 'user', evicts: 'none', group: 'people', label: 'Passphrase changed' },
  'user.keys_replaced': { about: 'user', evicts: 'organization', group: 'people', label: 'Key pair replaced' },
  'user.recovery_kit_made': { about: 'user', evicts: 'none', group: 'people', label: 'Recovery kit made' },
  'user.recovery_kit_removed': { about: 'user', evicts: 'none', group: 'people', label: 'Recovery kit removed' },
} as const satisfies Record<string, ActionRow>
