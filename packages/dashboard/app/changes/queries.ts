import type { changes as endpoints } from '@skerry/contract/changes/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export type ChangeRequest = Answer<typeof endpoints.get>['changeRequest']
export type SecretChange = Answer<typeof endpoints.propose>['changeRequests'][number]
export type Review = Answer<typeof endpoints.get>['reviews'][number]
export type Status = ChangeRequest['status']

export const statuses: Status[] = ['open', 'applied', 'rejected', 'withdrawn', 'superseded']

export interface ChangeFilter {
  /** `all` lists every status. The default is open changes. */
  status?: Status | 'all'
  env?: string
  applicationId?: string
}

const pageSize = 50

export const changesQuery = (orgId: string, { status = 'open', env, applicationId }: ChangeFilter) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'changes', { status, env, applicationId }],
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: pageSize,
        ...(status === 'all' ? {} : { status }),
        ...(env === undefined ? {} : { envId: env }),
        ...(applicationId === undefined ? {} : { applicationId }),
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }
      return api.changes.list({ params: { orgId }, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const changeQuery = (orgId: string, changeRequestId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'changes', changeRequestId],
    queryFn: ({ signal }) => api.changes.get({ params: { orgId, changeRequestId } }, { signal }),
  })

/** The changes that are decided together with this one, sorted by name. A change proposed alone is listed alone. */
export const togetherQuery = (orgId: string, change: ChangeRequest) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'changes', change.id, 'together', change.status],
    queryFn: async ({ signal }): Promise<ChangeRequest[]> => {
      if (change.groupId === null) return [change]
      const query = { groupId: change.groupId }
      const { changeRequests } = await api.changes.list({ params: { orgId }, query }, { signal })
      return changeRequests.sort((a, b) => ((a.secretName ?? '') < (b.secretName ?? '') ? -1 : 1))
    },
  })

/** The sidebar counts up to this number, because the server sends the ciphertext of each change. */
const countMax = 9

/** Returns the number of open changes: `3`, `9+`, or null for none. */
export async function countOpenChanges(orgId: string, signal: AbortSignal): Promise<string | null> {
  const query = { status: 'open', limit: countMax + 1 } as const
  const { changeRequests } = await api.changes.list({ params: { orgId }, query }, { signal })
  if (changeRequests.length === 0) return null
  return changeRequests.length > countMax ? `${countMax}+` : `${changeRequests.length}`
}
