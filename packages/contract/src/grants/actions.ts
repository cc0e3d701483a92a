import type { ActionRow } from '../action.ts'

export const actions = {
  'key.granted': { about: 'key_grant', evicts: 'organization', group: 'access', label: 'Key granted' },
  'key.revoked': { about: 'key_grant', evicts: 'organization', group: 'access', label: 'Key revoked' },
  'key.expired': { about: 'key_grant', evicts: 'organization', group: 'access', label: 'Key grant ended' },
  'grant.planned': { about: 'planned_grant', evicts: 'none', group: 'access', label: 'Key grants planned' },
} as const satisfies Record<string, ActionRow>
