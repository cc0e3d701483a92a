import type { ActionRow } from '../action.ts'

export const actions = {
  'env.protection_enabled': {
    about: 'environment',
    evicts: 'none',
    group: 'environments',
    label: 'Protection enabled',
  },
  'env.protection_updated': {
    about: 'environment',
    evicts: 'none',
    group: 'environments',
    label: 'Protection changed',
  },
  'env.protection_disabled': {
    about: 'environment',
    evicts: 'none',
    group: 'environments',
    label: 'Protection disabled',
  },
  'change_request.opened': { about: 'change_request', evicts: 'none', group: 'secrets', label: 'Change proposed' },
  'change_request.approved': { about: 'change_request', evicts: 'none', group: 'secrets', label: 'Change approved' },
  'change_request.applied': { about: 'change_request', evicts: 'none', group: 'secrets', label: 'Change applied' },
  'change_request.superseded': {
    about: 'change_request',
    evicts: 'none',
    group: 'secrets',
    label: 'Change superseded',
  },
  'change_request.rejected': { about: 'change_request', evicts: 'none', group: 'secrets', label: 'Change rejected' },
  'change_request.withdrawn': { about: 'change_request', evicts: 'none', group: 'secrets', label: 'Change withdrawn' },
} as const satisfies Record<string, ActionRow>
