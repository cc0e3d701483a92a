import type { Answer } from '@skerry/contract/endpoint'
import type { recovery, recoveryRequests } from '@skerry/contract/recovery/endpoints'
import { RefusedError } from '@skerry/sdk/errors'
import { queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'

export type Configured = Answer<typeof recovery.get>
export type Recovery = NonNullable<Configured['recovery']>
export type OwnShare = Answer<typeof recovery.share>['share']
export type RecoveryRequest = Answer<typeof recoveryRequests.get>['request']

const keyOf = (orgId: string, ...rest: string[]) => ['orgs', orgId, 'recovery', ...rest]

/** For owners and admins. */
export const recoveryQuery = (orgId: string) =>
  queryOptions({
    queryKey: keyOf(orgId, 'state'),
    queryFn: ({ signal }) => api.recovery.get({ params: { orgId } }, { signal }),
    staleTime: 0,
  })

export const recoveryKeyQuery = (orgId: string) =>
  queryOptions({
    queryKey: keyOf(orgId, 'key'),
    queryFn: ({ signal }) => api.recovery.publicKey({ params: { orgId } }, { signal }),
    staleTime: 0,
  })

/** Null for a person who is not a custodian. */
export const ownShareQuery = (orgId: string) =>
  queryOptions({
    queryKey: keyOf(orgId, 'share'),
    queryFn: ({ signal }): Promise<OwnShare | null> =>
      api.recovery.share({ params: { orgId } }, { signal }).then(({ share }) => share, unlessRefused(null)),
  })

/**
 * With an open request the list reloads every 5 seconds, to show each contribution soon. Without one it reloads every
 * 20 seconds, to show new requests.
 */
const refreshMs = { open: 5000, none: 20_000 }

/**
 * Admins see all requests, custodians the open ones, and others their own. A person who may see none gets an empty
 * list.
 */
export const requestsQuery = (orgId: string) =>
  queryOptions({
    queryKey: keyOf(orgId, 'requests'),
    queryFn: async ({ signal }): Promise<RecoveryRequest[]> => {
      const load = (query: object) => api.recoveryRequests.list({ params: { orgId }, query }, { signal })
      const pages = await allPages(load).catch(unlessRefused([]))
      return pages.flatMap(({ requests }) => requests).toReversed()
    },
    refetchInterval: ({ state }) => refreshMs[state.data?.some(isOpen) ? 'open' : 'none'],
  })

export const isOpen = ({ status }: RecoveryRequest): boolean => status === 'open'

const unlessRefused =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof RefusedError && (error.code === 'forbidden' || error.code === 'not_found')) return instead
    throw error
  }
