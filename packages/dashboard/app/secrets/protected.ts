import { RefusedError } from '@skerry/sdk/errors'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { queryClient } from '../queries.ts'
import { protectionQuery } from './queries.ts'

/** Names of the secrets that a change waits for, in a protected environment; null where changes need no approval. */
export const queuedQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'queued'],
    queryFn: async ({ signal }): Promise<ReadonlySet<string> | null> => {
      const { protection } = await queryClient.fetchQuery(protectionQuery(orgId, envId))
      if (protection === null) return null
      const query = { status: 'open' as const, envId }
      const { changeRequests } = await api.changes.list({ params: { orgId }, query }, { signal })
      return new Set(changeRequests.map(({ secretName }) => secretName))
    },
    structuralSharing: false,
  })

/** The header in which the reason for a change goes along: percent-encoded, for a header's value is bytes. */
export const noteHeader = (note: string): { headers?: Record<string, string> } =>
  note.trim() === '' ? {} : { headers: { 'x-skerry-change-note': encodeURIComponent(note.trim()) } }

export const isGone = (error: unknown) => error instanceof RefusedError && error.code === 'not_found'
