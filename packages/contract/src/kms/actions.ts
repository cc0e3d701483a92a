import type { ActionRow } from '../action.ts'

export const actions = {
  'kms_key.created': { about: 'kms_key', evicts: 'none', group: 'access', label: 'Managed key created' },
  'kms_key.rotated': { about: 'kms_key', evicts: 'none', group: 'access', label: 'Managed key rotated' },
  'kms_key.disabled': { about: 'kms_key', evicts: 'none', group: 'access', label: 'Managed key disabled' },
  'kms_key.enabled': { about: 'kms_key', evicts: 'none', group: 'access', label: 'Managed key enabled' },
  'kms_key.deleted': { about: 'kms_key', evicts: 'none', group: 'access', label: 'Managed key deleted' },
  'kms_grant.created': { about: 'kms_key', evicts: 'none', group: 'access', label: 'Managed key granted' },
  'kms_grant.revoked': { about: 'kms_key', evicts: 'none', group: 'access', label: 'Managed key revoked' },
} as const satisfies Record<string, ActionRow>
