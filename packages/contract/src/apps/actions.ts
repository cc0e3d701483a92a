import type { ActionRow } from '../action.ts'

export const actions = {
  'app.created': { about: 'application', evicts: 'none', group: 'environments', label: 'Application created' },
  'app.updated': { about: 'application', evicts: 'organization', group: 'environments', label: 'Application renamed' },
  'app.deleted': { about: 'application', evicts: 'organization', group: 'environments', label: 'Application deleted' },
} as const satisfies Record<string, ActionRow>
