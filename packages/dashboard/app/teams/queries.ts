import type { Answer } from '@skerry/contract/endpoint'
import type { teams as endpoints } from '@skerry/contract/teams/endpoints'
import type { MissingFilter } from '@skerry/sdk/internal/granting'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { orgQueries, type Stale } from '../queries.ts'

export type Team = Answer<typeof endpoints.list>['teams'][number]
export type TeamDetail = Answer<typeof endpoints.get>
export type TeamMember = TeamDetail['members'][number]
export type TeamEnvironment = TeamDetail['environments'][number]
export type Lost = Answer<typeof endpoints.removeMember>['lost']

/** All queries about teams, and about the keys that teams and plans ask for. */
export const teamQueries = (orgId: string): Stale => orgQueries(orgId, 'teams')

export const teamsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'teams', 'list'],
    queryFn: ({ signal }) => api.teams.list({ params: { orgId } }, { signal }),
  })

export const teamQuery = (orgId: string, teamId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'teams', teamId],
    queryFn: ({ signal }) => api.teams.get({ params: { orgId, teamId } }, { signal }),
  })

/** For admins: the first keys that a team asks for, or that all teams and plans ask for. */
export const missingQuery = (orgId: string, filter: MissingFilter = {}) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'teams', 'missing', filter],
    queryFn: async () => {
      // Loaded when it is needed, because the routes import these queries with the first load.
      const { listFirstMissing } = await import('@skerry/sdk/internal/granting')
      return listFirstMissing(api, orgId, filter)
    },
    staleTime: 0,
  })
