import type { ActionRow } from '../action.ts'

export const actions = {
  'directory.started': {
    about: 'directory',
    evicts: 'organization',
    group: 'organization',
    label: 'Directory started',
  },
  'directory.root_changed': {
    about: 'directory',
    evicts: 'organization',
    group: 'organization',
    label: 'Signers changed',
  },
  'directory.signed': { about: 'directory', evicts: 'organization', group: 'organization', label: 'Directory signed' },
} as const satisfies Record<string, ActionRow>

/** The actions of every mutation that may carry signed entries. */
export const signedActions = ['directory.root_changed', 'directory.signed'] as const
