import type { ActionRow } from '../action.ts'

export const actions = {
  'env.created': { about: 'environment', evicts: 'organization', group: 'environments', label: 'Environment created' },
  'env.updated': { about: 'environment', evicts: 'organization', group: 'environments', label: 'Environment renamed' },
  'env.deleted': { about: 'environment', evicts: 'organization', group: 'environments', label: 'Environment deleted' },
} as const satisfies Record<string, ActionRow>
