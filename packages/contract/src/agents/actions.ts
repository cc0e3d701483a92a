import type { ActionRow } from '../action.ts'

export const actions = {
  'agent.created': { about: 'agent', evicts: 'none', group: 'automation', label: 'Agent created' },
  'agent.updated': { about: 'agent', evicts: 'none', group: 'automation', label: 'Agent updated' },
  'agent.deleted': { about: 'agent', evicts: 'none', group: 'automation', label: 'Agent deleted' },
  'agent.policy_published': { about: 'agent', evicts: 'none', group: 'automation', label: 'Agent policy published' },
  'agent.policy_rolled_back': {
    about: 'agent',
    evicts: 'none',
    group: 'automation',
    label: 'Agent policy rolled back',
  },
} as const satisfies Record<string, ActionRow>
