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

/** Whether a program that presents the token now is let in. */
export const isInForce = ({ revokedAt, expiresAt }: Pick<ServiceToken, 'revokedAt' | 'expiresAt'>): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now())

/** Several may have the same name. */
export const tokenLabel = ({ id, name }: Pick<ServiceToken, 'id' | 'name'>): string => `${name} (${id.slice(0, 8)}…)`
