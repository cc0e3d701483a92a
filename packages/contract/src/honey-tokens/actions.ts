import type { ActionRow } from '../action.ts'

export const actions = {
  'honey_token.created': { about: 'honey_token', evicts: 'none', group: 'access', label: 'Decoy laid out' },
  'honey_token.deleted': { about: 'honey_token', evicts: 'none', group: 'access', label: 'Decoy deleted' },
  'honey_token.tripped': { about: 'honey_token', evicts: 'none', group: 'access', label: 'Decoy tried' },
} as const satisfies Record<string, ActionRow>
