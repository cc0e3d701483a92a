import type { Answer } from '@skerry/contract/endpoint'
import type { leases } from '@skerry/contract/leases/endpoints'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'

export type Lease = Answer<typeof leases.list>['leases'][number]
export type LeaseTarget = Answer<typeof leases.targets>['targets'][number]

export const targetsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'leases', 'targets'],
    queryFn: async ({ signal }): Promise<LeaseTarget[]> => {
      const pages = await allPages((query) => api.leases.targets({ params: { orgId }, query }, { signal }))
      return pages.flatMap(({ targets }) => targets)
    },
  })

const pageSize = 50

/** Leases expire and other people change them, so the list reloads every 15 seconds. */
const refreshMs = 15_000

export const ledgerQuery = (orgId: string) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'leases', 'ledger'],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return api.leases.list({ params: { orgId }, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) => (state.data?.pages[0]?.leases.some(isLive) ? refreshMs : false),
  })

export const brokerKeyQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'broker-key'],
    queryFn: ({ signal }) => api.leases.brokerKey({ params: { orgId } }, { signal }),
    staleTime: 0,
  })

/** Whether the target may still have the lease's account. */
const isLive = ({ status }: Lease): boolean => !['expired', 'revoked', 'failed'].includes(status)
