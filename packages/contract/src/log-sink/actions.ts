import type { ActionRow } from '../action.ts'

export const actions = {
  'log_sink.updated': { about: 'log_sink', evicts: 'none', group: 'organization', label: 'Log sink set' },
  'log_sink.tested': { about: 'log_sink', evicts: 'none', group: 'organization', label: 'Log sink tested' },
  'log_sink.disabled': {
    about: 'log_sink',
    evicts: 'none',
    group: 'organization',
    label: 'Log sink disabled by refusals',
  },
  'log_sink.deleted': { about: 'log_sink', evicts: 'none', group: 'organization', label: 'Log sink removed' },
} as const satisfies Record<string, ActionRow>
