import type { ActionRow } from '../action.ts'

export const actions = {
  'recovery.enabled': { about: 'recovery', evicts: 'none', group: 'access', label: 'Recovery set up' },
  'recovery.rotated': { about: 'recovery', evicts: 'none', group: 'access', label: 'Recovery key rotated' },
  'recovery.disabled': { about: 'recovery', evicts: 'none', group: 'access', label: 'Recovery ended' },
  'recovery.environments_covered': {
    about: 'recovery',
    evicts: 'none',
    group: 'access',
    label: 'Environments covered',
  },
  'recovery.custodian_removed': { about: 'recovery', evicts: 'none', group: 'access', label: 'Custodian gone' },
  'recovery.drilled': { about: 'recovery', evicts: 'none', group: 'access', label: 'Recovery drill passed' },
  'recovery_request.opened': { about: 'recovery_request', evicts: 'none', group: 'access', label: 'Recovery opened' },
  'recovery_request.share_contributed': {
    about: 'recovery_request',
    evicts: 'none',
    group: 'access',
    label: 'Recovery share given',
  },
  'recovery_request.completed': {
    about: 'recovery_request',
    evicts: 'organization',
    group: 'access',
    label: 'Recovery completed',
  },
  'recovery_request.cancelled': {
    about: 'recovery_request',
    evicts: 'none',
    group: 'access',
    label: 'Recovery cancelled',
  },
  'recovery_request.expired': { about: 'recovery_request', evicts: 'none', group: 'access', label: 'Recovery expired' },
} as const satisfies Record<string, ActionRow>
