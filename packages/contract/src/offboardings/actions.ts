import type { ActionRow } from '../action.ts'

export const actions = {
  'offboarding.started': { about: 'offboarding', evicts: 'none', group: 'access', label: 'Offboarding started' },
  'offboarding.row_changed': {
    about: 'offboarding',
    evicts: 'none',
    group: 'access',
    label: 'Offboarding row changed',
  },
  'offboarding.row_reminded': {
    about: 'offboarding',
    evicts: 'none',
    group: 'access',
    label: 'Offboarding reminder sent',
  },
  'offboarding.finished': { about: 'offboarding', evicts: 'none', group: 'access', label: 'Offboarding finished' },
} as const satisfies Record<string, ActionRow>
