import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

/** A holder’s access to an environment, without its key. */
export type Access = Answer<typeof grants.overview>['access'][number]

/** For admins: who can read which environment. Branches are left out. */
export const accessQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'access'],
    queryFn: ({ signal }) => api.grants.overview({ params: { orgId } }, { signal }),
    staleTime: 0,
  })
