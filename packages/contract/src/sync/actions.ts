import type { ActionRow } from '../action.ts'

export const actions = {
  'sync_connection.created': {
    about: 'sync_connection',
    evicts: 'none',
    group: 'automation',
    label: 'Sync connection created',
  },
  'sync_connection.updated': {
    about: 'sync_connection',
    evicts: 'none',
    group: 'automation',
    label: 'Sync connection changed',
  },
  'sync_connection.verified': {
    about: 'sync_connection',
    evicts: 'none',
    group: 'automation',
    label: 'Sync connection verified',
  },
  'sync_connection.deleted': {
    about: 'sync_connection',
    evicts: 'none',
    group: 'automation',
    label: 'Sync connection deleted',
  },
  'sync_binding.created': { about: 'sync_binding', evicts: 'none', group: 'automation', label: 'Sync binding created' },
  'sync_binding.updated': { about: 'sync_binding', evicts: 'none', group: 'automation', label: 'Sync binding changed' },
  'sync_binding.deleted': { about: 'sync_binding', evicts: 'none', group: 'automation', label: 'Sync binding deleted' },
  'sync.run_succeeded': { about: 'sync_run', evicts: 'none', group: 'automation', label: 'Sync pushed' },
  'sync.run_failed': { about: 'sync_run', evicts: 'none', group: 'automation', label: 'Sync failed' },
} as const satisfies Record<string, ActionRow>
