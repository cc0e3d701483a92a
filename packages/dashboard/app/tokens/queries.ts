import type { Answer } from '@skerry/contract/endpoint'
import type { tokens } from '@skerry/contract/tokens/endpoints'
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

export type ServiceToken = Answer<typeof tokens.list>['tokens'][number]

/** Whether the server accepts the token now. */
export const isInForce = ({ revokedAt, expiresAt }: Pick<ServiceToken, 'revokedAt' | 'expiresAt'>): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now())

/** Returns a label with the start of the ID, because several tokens may have the same name. */
export const tokenLabel = ({ id, name }: Pick<ServiceToken, 'id' | 'name'>): string => `${name} (${id.slice(0, 8)}…)`
