import type { ActionRow } from '../action.ts'

export const actions = {
  'user.identity_linked': { about: 'user', evicts: 'none', group: 'people', label: 'Sign-in linked to an account' },
} as const satisfies Record<string, ActionRow>
