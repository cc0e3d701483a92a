import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import type { Stale } from '../queries.ts'
import type { Environment } from '../secrets/use-columns.ts'

export const branchesQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'branches'],
    queryFn: ({ signal }) => api.branches.list({ params: { orgId, envId } }, { signal }),
  })

/** The queries that become stale when a branch of an environment is created or deleted. */
export const branchLists = (orgId: string, { id, applicationId }: Environment): Stale[] => [
  branchesQuery(orgId, id),
  { queryKey: ['orgs', orgId, 'apps', applicationId, 'branches'] },
]
