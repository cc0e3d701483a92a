import type { Answer } from '@skerry/contract/endpoint'
import type { teams } from '@skerry/contract/teams/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export const invitesQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'invites'],
    queryFn: ({ signal }) => api.invites.list({ params: { orgId } }, { signal }),
  })

export type Team = Answer<typeof teams.list>['teams'][number]

/** All teams of the organization, to choose from. */
export const teamsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'teams', 'all'],
    queryFn: async ({ signal }): Promise<Team[]> => {
      const all: Team[] = []
      let cursor: string | null = null
      do {
        const query = cursor === null ? {} : { cursor }
        const page: Answer<typeof teams.list> = await api.teams.list({ params: { orgId }, query }, { signal })
        all.push(...page.teams)
        cursor = page.nextCursor
      } while (cursor !== null)
      return all
    },
  })
