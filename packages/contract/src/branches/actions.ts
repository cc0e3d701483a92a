import type { ActionRow } from '../action.ts'

export const actions = {
  'branch.created': { about: 'environment', evicts: 'organization', group: 'environments', label: 'Branch created' },
  'branch.deleted': { about: 'environment', evicts: 'organization', group: 'environments', label: 'Branch deleted' },
  'branch.expired': { about: 'environment', evicts: 'organization', group: 'environments', label: 'Branch expired' },
} as const satisfies Record<string, ActionRow>
