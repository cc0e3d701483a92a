import type { Answer } from '@skerry/contract/endpoint'
import type { rotation } from '@skerry/contract/rotation/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { orgQueries, type Stale } from '../queries.ts'

export type Rotation = Answer<typeof rotation.list>['rotations'][number]

export const rotationsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'rotation'],
    queryFn: async ({ signal }): Promise<Rotation[]> => {
      const pages = await allPages((query) => api.rotation.list({ params: { orgId }, query }, { signal }))
      return pages.flatMap(({ rotations }) => rotations)
    },
  })

export const rotatorQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'rotator-key'],
    queryFn: ({ signal }) => api.rotation.rotatorKey({ params: { orgId } }, { signal }),
    staleTime: 0,
  })

/**
 * The queries that a change of a rotation makes stale. A run writes a new version, and a removal may revoke the
 * rotator's key.
 */
export const staleAfterRotation = (orgId: string, environmentId: string): Stale[] => [
  orgQueries(orgId, 'rotation'),
  orgQueries(orgId, 'envs', environmentId),
]
