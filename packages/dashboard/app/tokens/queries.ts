import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export const honeyTokensQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'honey-tokens'],
    queryFn: ({ signal }) => api.honeyTokens.list({ params: { orgId } }, { signal }),
  })
