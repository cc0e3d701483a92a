import type { Answer, Body } from '@skerry/contract/endpoint'
import type { sync } from '@skerry/contract/sync/endpoints'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { layersBelow } from '../envs/layers-below.ts'
import { fetchCached, orgQueries, type Stale } from '../queries.ts'
import { envQuery, sealedQuery } from '../secrets/queries.ts'

export type Connection = Answer<typeof sync.connections>['connections'][number]
export type Binding = Answer<typeof sync.bindings>['bindings'][number]
export type Run = Answer<typeof sync.runs>['runs'][number]
export type Plan = Answer<typeof sync.plan>['plan']
export type PlanSettings = Body<typeof sync.plan>

/** While a push runs, the list reloads every 2 seconds. A push takes a second or two. */
const refreshMs = 2000

export const connectionsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'sync', 'connections'],
    queryFn: async ({ signal }): Promise<Connection[]> => {
      const pages = await allPages((query) => api.sync.connections({ params: { orgId }, query }, { signal }))
      return pages.flatMap(({ connections }) => connections)
    },
  })

export const bindingsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'sync', 'bindings'],
    queryFn: async ({ signal }): Promise<Binding[]> => {
      const pages = await allPages((query) => api.sync.bindings({ params: { orgId }, query }, { signal }))
      return pages.flatMap(({ bindings }) => bindings)
    },
    refetchInterval: ({ state }) => (state.data?.some(({ lastRun }) => isUnderWay(lastRun)) ? refreshMs : false),
  })

const pageSize = 50

/** The runs of one binding, or of all, the newest first. */
export const runsQuery = (orgId: string, bindingId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'sync', 'runs', bindingId ?? 'all'],
    queryFn: ({ signal, pageParam }) => {
      const of = bindingId === undefined ? {} : { bindingId }
      const query = { limit: pageSize, ...of, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return api.sync.runs({ params: { orgId }, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) => (state.data?.pages[0]?.runs.some(isUnderWay) ? refreshMs : false),
  })

/** The newest run of a binding. */
export const newestRunQuery = (orgId: string, bindingId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'sync', 'newest-run', bindingId],
    queryFn: async ({ signal }): Promise<Run | null> => {
      const { runs } = await api.sync.runs({ params: { orgId }, query: { bindingId, limit: 1 } }, { signal })
      return runs[0] ?? null
    },
  })

const isUnderWay = (run: Pick<Run, 'status'> | null) => run?.status === 'running'

/** The plan of a push with these settings. To make it, the server asks the destination for its current names. */
export const planQuery = (orgId: string, bindingId: string, settings: PlanSettings) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'sync', 'plans', bindingId, settings],
    queryFn: ({ signal }) => api.sync.plan({ params: { orgId, bindingId }, body: settings }, { signal }),
    staleTime: 0,
  })

/** The names of all secrets in an environment and its lower layers. The values stay sealed. */
export const namesQuery = (orgId: string, environmentId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', environmentId, 'names'],
    queryFn: async (): Promise<string[]> => {
      const { environment } = await fetchCached(envQuery(orgId, environmentId))
      const below = await layersBelow(orgId, environment)
      const ids = [environmentId, ...below.map((layer) => layer.environmentId)]
      const sealed = await Promise.all(ids.map((id) => fetchCached(sealedQuery(orgId, id))))
      const names = new Set(sealed.flatMap((one) => [...(one?.secrets.keys() ?? [])]))
      return [...names].sort()
    },
  })

/**
 * The queries that a change in sync makes stale. A new binding grants keys of environments, and its removal revokes
 * them.
 */
export const staleAfterSync = (orgId: string, environmentIds: readonly string[] = []): Stale[] => [
  orgQueries(orgId, 'sync'),
  ...environmentIds.map((id) => orgQueries(orgId, 'envs', id)),
]
