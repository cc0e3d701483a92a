import type { ActionRow } from '../action.ts'

const access = { about: 'team', group: 'access' } as const

/** An action by which people can lose keys evicts all answers of the organization. */
export const actions = {
  'team.created': { ...access, evicts: 'none', label: 'Team created' },
  'team.renamed': { ...access, evicts: 'none', label: 'Team renamed' },
  'team.deleted': { ...access, evicts: 'organization', label: 'Team deleted' },
  'team.member_added': { ...access, evicts: 'none', label: 'Person added to a team' },
  'team.member_removed': { ...access, evicts: 'organization', label: 'Person removed from a team' },
  'team.environment_added': { ...access, evicts: 'none', label: 'Environment given to a team' },
  'team.environment_removed': { ...access, evicts: 'organization', label: 'Environment taken from a team' },
} as const satisfies Record<string, ActionRow>
