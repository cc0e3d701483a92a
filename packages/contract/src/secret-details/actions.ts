import type { ActionRow } from '../action.ts'

export const actions = {
  'secret.described': { about: 'environment', evicts: 'none', group: 'environments', label: 'Secret described' },
} as const satisfies Record<string, ActionRow>
