import type { Answer } from '@skerry/contract/endpoint'
import type { overrides } from '@skerry/contract/overrides/endpoints'
import { RefusedError } from '@skerry/sdk/errors'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export type OverrideRow = Answer<typeof overrides.list>['overrides'][number]

/** The person's own overrides in an environment, still encrypted. Without the key there are none to see. */
export const overridesQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'overrides'],
    queryFn: async ({ signal }): Promise<OverrideRow[]> => {
      try {
        return (await api.overrides.list({ params: { orgId, envId } }, { signal })).overrides
      } catch (error) {
        if (error instanceof RefusedError && error.code === 'forbidden') return []
        throw error
      }
    },
  })

/** For admins: how many overrides each person has. */
export const overrideCountQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'overrides', 'count'],
    queryFn: ({ signal }) => api.overrides.count({ params: { orgId, envId } }, { signal }),
  })
