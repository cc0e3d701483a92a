import type { Answer } from '@skerry/contract/endpoint'
import type { kms } from '@skerry/contract/kms/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'

export type ManagedKey = Answer<typeof kms.get>['key']
export type KeyVersion = Answer<typeof kms.get>['versions'][number]
export type KeyHolder = Answer<typeof kms.grants>['grants'][number]

export const managedKeysQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'kms'],
    queryFn: async ({ signal }): Promise<ManagedKey[]> => {
      const pages = await allPages((query) => api.kms.list({ params: { orgId }, query }, { signal }))
      return pages.flatMap(({ keys }) => keys)
    },
  })

export const managedKeyQuery = (orgId: string, kmsKeyId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'kms', kmsKeyId],
    queryFn: ({ signal }) => api.kms.get({ params: { orgId, kmsKeyId } }, { signal }),
  })

export const keyHoldersQuery = (orgId: string, kmsKeyId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'kms', kmsKeyId, 'holders'],
    queryFn: ({ signal }) => api.kms.grants({ params: { orgId, kmsKeyId } }, { signal }),
    staleTime: 0,
  })
