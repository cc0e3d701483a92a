import type { Answer } from '@skerry/contract/endpoint'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import type { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'

export type Project = Answer<typeof vaultProjects.get>['project']
export type PlatformKey = Answer<typeof vaultProjects.get>['keys'][number]
export type Executor = NonNullable<Answer<typeof vaultProjects.get>['executor']>
export type Connection = Answer<typeof vaultProjects.connections>['connections'][number]
export type Webhook = Answer<typeof vaultWebhooks.list>['endpoints'][number]
export type Delivery = Answer<typeof vaultWebhooks.deliveries>['deliveries'][number]

export interface ConnectionFilter {
  userRef?: string
  status?: Connection['status']
}

/** Executors report and deliveries are sent in the background, so these lists reload every 15 seconds. */
const refreshMs = 15_000

const pageSize = 50

export const projectsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'vault'],
    queryFn: async ({ signal }): Promise<Project[]> => {
      const pages = await allPages((query) => api.vaultProjects.list({ params: { orgId }, query }, { signal }))
      return pages.flatMap(({ projects }) => projects)
    },
  })

export const projectQuery = (orgId: string, projectId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'vault', projectId],
    queryFn: ({ signal }) => api.vaultProjects.get({ params: { orgId, projectId } }, { signal }),
    refetchInterval: refreshMs,
  })

/** The oldest first, which is the server's order. */
export const connectionsQuery = (orgId: string, projectId: string, filter: ConnectionFilter) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'vault', projectId, 'connections', filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...filter, limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return api.vaultProjects.connections({ params: { orgId, projectId }, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const webhooksQuery = (orgId: string, projectId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'vault', projectId, 'webhooks'],
    queryFn: ({ signal }) => api.vaultWebhooks.list({ params: { orgId, projectId } }, { signal }),
    refetchInterval: refreshMs,
  })

/** The newest first. */
export const deliveriesQuery = (orgId: string, { projectId, id }: Pick<Webhook, 'projectId' | 'id'>) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'vault', projectId, 'webhooks', id],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) }
      const params = { orgId, projectId, vaultWebhookId: id }
      return api.vaultWebhooks.deliveries({ params, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: refreshMs,
  })
