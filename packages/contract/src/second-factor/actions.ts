import type { ActionRow } from '../action.ts'

export const actions = {
  'user.totp_enrolled': { about: 'user', evicts: 'none', group: 'people', label: 'Authenticator app set up' },
  'user.totp_removed': { about: 'user', evicts: 'none', group: 'people', label: 'Authenticator app removed' },
  'user.recovery_codes_renewed': { about: 'user', evicts: 'none', group: 'people', label: 'Recovery codes renewed' },
  'user.recovery_code_used': { about: 'user', evicts: 'none', group: 'people', label: 'Recovery code used' },
} as const satisfies Record<string, ActionRow>
