import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { queryClient } from '../queries.ts'
import { protectionQuery } from './queries.ts'

/** Whether an environment is protected, and which of its secrets have changes waiting. */
export interface Queue {
  isProtected: boolean
  /** Of the secrets that a change waits for. It goes on waiting after protection has ended. */
  names: ReadonlySet<string>
}

export const queuedQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'queued'],
    queryFn: async ({ signal }): Promise<Queue> => {
      const { protection, openChangeRequests } = await queryClient.fetchQuery(protectionQuery(orgId, envId))
      const isProtected = protection !== null
      if (openChangeRequests === 0) return { isProtected, names: new Set() }
      const query = { status: 'open' as const, envId }
      const { changeRequests } = await api.changes.list({ params: { orgId }, query }, { signal })
      return { isProtected, names: new Set(changeRequests.map(({ secretName }) => secretName)) }
    },
    structuralSharing: false,
  })

/** The header in which the reason for a change goes along: percent-encoded, for a header's value is bytes. */
export const noteHeader = (note: string): { headers?: Record<string, string> } =>
  note.trim() === '' ? {} : { headers: { 'x-skerry-change-note': encodeURIComponent(note.trim()) } }
