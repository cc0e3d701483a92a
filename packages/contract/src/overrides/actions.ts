import type { ActionRow } from '../action.ts'

// Entries name the environment alone. The name of the secret is encrypted, and the server does not know it.
export const actions = {
  'override.stored': {
    about: 'environment',
    evicts: 'none',
    group: 'environments',
    label: 'Personal override stored',
  },
  'override.deleted': {
    about: 'environment',
    evicts: 'none',
    group: 'environments',
    label: 'Personal override removed',
  },
} as const satisfies Record<string, ActionRow>
