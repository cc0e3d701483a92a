import type { ActionRow } from '../action.ts'

export const actions = {
  'token.created': { about: 'service_token', evicts: 'none', group: 'access', label: 'Service token created' },
  'token.registered': {
    about: 'service_token',
    evicts: 'organization',
    group: 'access',
    label: 'Restored token registered',
  },
  'token.updated': { about: 'service_token', evicts: 'none', group: 'access', label: 'Service token renamed' },
  'token.revoked': { about: 'service_token', evicts: 'organization', group: 'access', label: 'Service token revoked' },
  'token.exposed': { about: 'service_token', evicts: 'none', group: 'access', label: 'Token sent with its key' },
  'token.deleted': { about: 'service_token', evicts: 'organization', group: 'access', label: 'Service token deleted' },
} as const satisfies Record<string, ActionRow>
