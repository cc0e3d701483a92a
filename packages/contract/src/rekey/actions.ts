import type { ActionRow } from '../action.ts'

export const actions = {
  'env.rekeyed': { about: 'environment', evicts: 'organization', group: 'environments', label: 'Environment re-keyed' },
} as const satisfies Record<string, ActionRow>
