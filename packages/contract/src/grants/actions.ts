import type { ActionRow } from '../action.ts'

export const actions = {
  'key.granted': { about: 'key_grant', evicts: 'organization', group: 'access', label: 'Key granted' },
  'key.revoked': { about: 'key_grant', evicts: 'organization', group: 'access', label: 'Key revoked' },
} as const satisfies Record<string, ActionRow>
