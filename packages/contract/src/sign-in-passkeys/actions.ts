import type { ActionRow } from '../action.ts'

export const actions = {
  'user.sign_in_passkey_enrolled': {
    about: 'sign_in_passkey',
    evicts: 'none',
    group: 'people',
    label: 'Sign-in passkey added',
  },
  'user.sign_in_passkey_removed': {
    about: 'sign_in_passkey',
    evicts: 'none',
    group: 'people',
    label: 'Sign-in passkey removed',
  },
} as const satisfies Record<string, ActionRow>
