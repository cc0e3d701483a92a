import type { ActionRow } from '../action.ts'

export const actions = {
  'invite.created': { about: 'invitation', evicts: 'none', group: 'people', label: 'Invitation sent' },
  'invite.resent': { about: 'invitation', evicts: 'none', group: 'people', label: 'Invitation sent again' },
  'invite.revoked': { about: 'invitation', evicts: 'none', group: 'people', label: 'Invitation revoked' },
  'invite.declined': { about: 'invitation', evicts: 'none', group: 'people', label: 'Invitation declined' },
  'member.joined': { about: 'user', evicts: 'none', group: 'people', label: 'Member joined' },
  'member.role_changed': { about: 'user', evicts: 'organization', group: 'people', label: 'Role changed' },
  'member.removed': { about: 'user', evicts: 'organization', group: 'people', label: 'Member removed' },
} as const satisfies Record<string, ActionRow>
