import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

/**
 * Whether a program of the organization has read its secrets. Resolves are counted about once a minute, so the page asks
 * again every 20 seconds until one is counted.
 */
export const firstRunQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'first-run'],
    queryFn: async ({ signal }) => {
      const { usage } = await api.billing.get({ params: { orgId } }, { signal })
      return usage.some(({ key, quantity }) => key === 'resolves' && (quantity ?? 0) > 0)
    },
    refetchInterval: ({ state }) => (state.data === true ? false : 20_000),
  })
