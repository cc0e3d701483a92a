import type { Answer } from '@skerry/contract/endpoint'
import type { secretDetails } from '@skerry/contract/secret-details/endpoints'
import type { secrets } from '@skerry/contract/secrets/endpoints'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'

export type VersionHistory = Answer<typeof secrets.versions>
export type Version = VersionHistory['versions'][number]

/** The versions of a secret, newest first. `current` is the version that is known to be the newest. */
export const versionsQuery = (orgId: string, envId: string, name: string, current: number) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'versions', name, current],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return api.secrets.versions({ params: { orgId, envId, name }, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export type Details = Answer<typeof secretDetails.list>['details'][number]

/** The details of the secrets of an environment, by name. The descriptions and the tags are still encrypted. */
export const detailsQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'details'],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, Details>> => {
      const params = { orgId, envId }
      const pages = await allPages((query) => api.secretDetails.list({ params, query }, { signal }))
      return new Map(pages.flatMap(({ details }) => details).map((row) => [row.name, row]))
    },
    structuralSharing: false,
  })
