import type { ActionRow } from '../action.ts'

export const actions = {
  'org.created': { about: 'organization', evicts: 'none', group: 'organization', label: 'Organization created' },
  'org.updated': { about: 'organization', evicts: 'none', group: 'organization', label: 'Organization renamed' },
  'org.mfa_policy_updated': {
    about: 'organization',
    evicts: 'none',
    group: 'organization',
    label: 'Second-factor policy changed',
  },
  'org.sealed_data_dropped': {
    about: 'organization',
    evicts: 'none',
    group: 'organization',
    label: 'Data under the server key dropped',
  },
} as const satisfies Record<string, ActionRow>
