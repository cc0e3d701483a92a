import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

/**
 * Whether a program of the organization has read its secrets. Resolves are counted about once a minute, so the page asks
 * again every few seconds until it is so.
 */
export const firstRunQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'first-run'],
    queryFn: async ({ signal }) => {
      const { usage } = await api.billing.get({ params: { orgId } }, { signal })
      return usage.some(({ key, quantity }) => key === 'resolves' && (quantity ?? 0) > 0)
    },
    refetchInterval: ({ state }) => (state.data === true ? false : 5000),
  })
