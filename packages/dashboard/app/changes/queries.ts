import type { changes as endpoints } from '@skerry/contract/changes'
import type { Answer } from '@skerry/contract/endpoint'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export type ChangeRequest = Answer<typeof endpoints.get>['changeRequest']
export type Review = Answer<typeof endpoints.get>['reviews'][number]
export type Status = ChangeRequest['status']

export const statuses: Status[] = ['open', 'applied', 'rejected', 'withdrawn', 'superseded']

export interface ChangeFilter {
  /** `all` for every status; open ones unless given. */
  status?: Status | 'all'
  env?: string
}

const pageSize = 50

export const changesQuery = (orgId: string, { status = 'open', env }: ChangeFilter) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'changes', { status, env }],
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: pageSize,
        ...(status === 'all' ? {} : { status }),
        ...(env === undefined ? {} : { envId: env }),
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
