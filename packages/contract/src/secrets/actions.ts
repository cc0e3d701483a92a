import type { ActionRow } from '../action.ts'

export const actions = {
  'secret.written': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Secret written' },
  'secret.restored': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Secret restored' },
  'secret.deleted': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Secret deleted' },
} as const satisfies Record<string, ActionRow>
