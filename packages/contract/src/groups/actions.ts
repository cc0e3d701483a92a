import type { ActionRow } from '../action.ts'

export const actions = {
  'group.created': { about: 'group', evicts: 'none', group: 'environments', label: 'Group created' },
  'group.updated': { about: 'group', evicts: 'organization', group: 'environments', label: 'Group renamed' },
  'group.deleted': { about: 'group', evicts: 'organization', group: 'environments', label: 'Group deleted' },
  'composition.set': {
    about: 'environment',
    evicts: 'organization',
    group: 'environments',
    label: 'Group composed in',
  },
  'composition.removed': {
    about: 'environment',
    evicts: 'organization',
    group: 'environments',
    label: 'Group taken out',
  },
} as const satisfies Record<string, ActionRow>
