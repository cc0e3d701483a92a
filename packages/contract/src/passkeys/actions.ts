import type { ActionRow } from '../action.ts'

export const actions = {
  'user.passkey_enrolled': { about: 'passkey', evicts: 'none', group: 'people', label: 'Keyring passkey added' },
  'user.passkey_removed': { about: 'passkey', evicts: 'none', group: 'people', label: 'Keyring passkey removed' },
} as const satisfies Record<string, ActionRow>
