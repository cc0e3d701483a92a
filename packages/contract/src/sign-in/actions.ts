import type { ActionRow } from '../action.ts'

export const actions = {
  'user.created': { about: 'user', evicts: 'none', group: 'people', label: 'Account created' },
  'session.started': { about: 'session', evicts: 'none', group: 'people', label: 'Signed in' },
  'session.second_factor_entered': {
    about: 'session',
    evicts: 'none',
    group: 'people',
    label: 'Second factor entered',
  },
  'session.ended': { about: 'session', evicts: 'none', group: 'people', label: 'Signed out' },
} as const satisfies Record<string, ActionRow>
