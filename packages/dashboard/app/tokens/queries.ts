import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export const honeyTokensQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'honey-tokens'],
    queryFn: ({ signal }) => api.honeyTokens.list({ params: { orgId } }, { signal }),
  })

export const clientsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'clients'],
    queryFn: ({ signal }) => api.machineClients.list({ params: { orgId } }, { signal }),
  })
