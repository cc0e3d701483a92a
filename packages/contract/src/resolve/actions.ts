import type { ActionRow } from '../action.ts'

export const actions = {
  'env.resolve_denied': { about: 'environment', evicts: 'none', group: 'environments', label: 'Reading denied' },
} as const satisfies Record<string, ActionRow>
