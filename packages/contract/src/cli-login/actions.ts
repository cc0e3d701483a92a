import type { ActionRow } from '../action.ts'

export const actions = {
  'cli_session.approved': { about: 'cli_session', evicts: 'none', group: 'people', label: 'Terminal approved' },
  'cli_session.denied': { about: 'cli_session', evicts: 'none', group: 'people', label: 'Terminal denied' },
  'cli_session.revoked': { about: 'cli_session', evicts: 'none', group: 'people', label: 'Terminal signed out' },
} as const satisfies Record<string, ActionRow>
