import type { ActionRow } from '../action.ts'

export const actions = {
  'secret.written': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Secret written' },
  'secret.restored': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Secret restored' },
  'secret.renamed': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Secret renamed' },
  'secret.deleted': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Secret deleted' },
  'secret.undeleted': { about: 'secret', evicts: 'environment', group: 'secrets', label: 'Deleted secret restored' },
  'secret.purged': { about: 'secret', evicts: 'none', group: 'secrets', label: 'Deleted secret purged' },
} as const satisfies Record<string, ActionRow>
