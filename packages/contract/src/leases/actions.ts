import type { ActionRow } from '../action.ts'

export const actions = {
  'lease_target.created': {
    about: 'lease_target',
    evicts: 'none',
    group: 'automation',
    label: 'Lease target registered',
  },
  'lease_target.updated': { about: 'lease_target', evicts: 'none', group: 'automation', label: 'Lease target updated' },
  'lease_target.verified': {
    about: 'lease_target',
    evicts: 'none',
    group: 'automation',
    label: 'Lease target verified',
  },
  'lease_target.verification_requested': {
    about: 'lease_target',
    evicts: 'none',
    group: 'automation',
    label: 'Lease target verification requested',
  },
  'lease_target.paused': { about: 'lease_target', evicts: 'none', group: 'automation', label: 'Lease target paused' },
  'lease_target.deleted': { about: 'lease_target', evicts: 'none', group: 'automation', label: 'Lease target deleted' },
  'lease.requested': { about: 'lease', evicts: 'none', group: 'automation', label: 'Lease requested' },
  'lease.created': { about: 'lease', evicts: 'none', group: 'automation', label: 'Lease created' },
  'lease.failed': { about: 'lease', evicts: 'none', group: 'automation', label: 'Lease failed' },
  'lease.revoked': { about: 'lease', evicts: 'none', group: 'automation', label: 'Lease revoked' },
  'lease.expired': { about: 'lease', evicts: 'none', group: 'automation', label: 'Lease expired' },
  'lease.cleaned_up': {
    about: 'lease',
    evicts: 'none',
    group: 'automation',
    label: 'Objects of a lease dropped or reassigned',
  },
  'lease.orphaned': { about: 'lease', evicts: 'none', group: 'automation', label: 'Lease orphaned' },
  'lease.forgotten': { about: 'lease', evicts: 'none', group: 'automation', label: 'Lease forgotten' },
} as const satisfies Record<string, ActionRow>
