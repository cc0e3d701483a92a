import type { ActionRow } from '../action.ts'

export const actions = {
  'audit.archived': { about: 'organization', evicts: 'none', group: 'organization', label: 'Audit entries archived' },
} as const satisfies Record<string, ActionRow>
