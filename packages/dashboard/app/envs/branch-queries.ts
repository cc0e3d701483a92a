import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { invalidate } from '../queries.ts'
import type { Environment } from '../secrets/use-columns.ts'

export const branchesQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'branches'],
    queryFn: ({ signal }) => api.branches.list({ params: { orgId, envId } }, { signal }),
  })

/** After a branch was created or deleted. */
export async function reloadBranches(orgId: string, { id, applicationId }: Environment) {
  await Promise.all([
    invalidate(branchesQuery(orgId, id)),
    invalidate({ queryKey: ['orgs', orgId, 'apps', applicationId, 'branches'] }),
  ])
}
