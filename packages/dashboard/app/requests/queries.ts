import type { accessRequests } from '@skerry/contract/access-requests/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { fetchCached, orgQueries } from '../queries.ts'
import { appQuery, appsQuery, groupQuery, groupsQuery } from '../secrets/queries.ts'

export type AccessRequest = Answer<typeof accessRequests.get>['request']

/** All queries about requests for access, with the badge in the sidebar. */
export const requestQueries = (orgId: string) => orgQueries(orgId, 'access-requests')

/** The requests for access: everyone’s for admins, else the person’s own. */
export const requestsQuery = (orgId: string, status: 'open' | 'closed') =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'access-requests', status],
    queryFn: ({ signal, pageParam }) => {
      const query = { status, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return api.accessRequests.list({ params: { orgId }, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** The open requests, first page only. A person has few open ones of their own. */
export const openRequestsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'access-requests', 'first-open'],
    queryFn: ({ signal }) => api.accessRequests.list({ params: { orgId }, query: { status: 'open' } }, { signal }),
  })

/** An application or a group with its environments. */
export interface Owner {
  id: string
  kind: 'application' | 'group'
  name: string
  environments: { id: string; name: string; slug: string; canDecrypt: boolean }[]
}

/** All applications and groups with their environments, and whether this person holds each key. */
export const ownersQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'owners'],
    queryFn: async (): Promise<Owner[]> => {
      const [{ apps }, { groups }] = await Promise.all([fetchCached(appsQuery(orgId)), fetchCached(groupsQuery(orgId))])
      const [ofApps, ofGroups] = await Promise.all([
        Promise.all(apps.map(({ id }) => fetchCached(appQuery(orgId, id)))),
        Promise.all(groups.map(({ id }) => fetchCached(groupQuery(orgId, id)))),
      ])
      return [
        ...ofApps.map(({ app, environments }) => ({
          id: app.id,
          kind: 'application' as const,
          name: app.name,
          environments,
        })),
        ...ofGroups.map(({ group, environments }) => ({
          id: group.id,
          kind: 'group' as const,
          name: group.name,
          environments,
        })),
      ]
    },
  })
