import type { ActionRow } from '../action.ts'

export const actions = {
  'agent.task_dispatched': { about: 'agent_task', evicts: 'none', group: 'automation', label: 'Agent task dispatched' },
  'agent.task_revoked': { about: 'agent_task', evicts: 'none', group: 'automation', label: 'Agent task revoked' },
} as const satisfies Record<string, ActionRow>
