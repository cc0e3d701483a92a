import type { ActionRow } from '../action.ts'

export const actions = {
  'machine_client.created': {
    about: 'machine_client',
    evicts: 'none',
    group: 'access',
    label: 'Machine client created',
  },
  'machine_client.token_issued': {
    about: 'machine_client',
    evicts: 'none',
    group: 'access',
    label: 'Machine access issued',
  },
  'machine_client.secret_renewed': {
    about: 'machine_client',
    evicts: 'none',
    group: 'access',
    label: 'Machine client given a new secret',
  },
  'machine_client.revoked': {
    about: 'machine_client',
    evicts: 'none',
    group: 'access',
    label: 'Machine client revoked',
  },
} as const satisfies Record<string, ActionRow>
