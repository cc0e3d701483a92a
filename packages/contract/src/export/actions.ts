import type { ActionRow } from '../action.ts'

export const actions = {
  'org.exported': { about: 'organization', evicts: 'none', group: 'organization', label: 'Organization exported' },
  'org.restored': {
    about: 'organization',
    evicts: 'none',
    group: 'organization',
    label: 'Organization restored from an archive',
  },
} as const satisfies Record<string, ActionRow>
