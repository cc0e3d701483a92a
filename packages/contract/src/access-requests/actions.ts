import type { ActionRow } from '../action.ts'

export const actions = {
  'access_request.opened': { about: 'access_request', evicts: 'none', group: 'access', label: 'Access asked for' },
  'access_request.granted': { about: 'access_request', evicts: 'none', group: 'access', label: 'Access given' },
  'access_request.declined': { about: 'access_request', evicts: 'none', group: 'access', label: 'Access declined' },
  'access_request.withdrawn': { about: 'access_request', evicts: 'none', group: 'access', label: 'Request withdrawn' },
  'access_request.expired': { about: 'access_request', evicts: 'none', group: 'access', label: 'Request expired' },
} as const satisfies Record<string, ActionRow>
