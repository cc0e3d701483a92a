import type { ActionRow } from '../action.ts'

export const actions = {
  'user.notifications_updated': { about: 'user', evicts: 'none', group: 'people', label: 'Notifications changed' },
} as const satisfies Record<string, ActionRow>
