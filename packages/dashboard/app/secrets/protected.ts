import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { queryClient } from '../queries.ts'
import { protectionQuery } from './queries.ts'

/** Whether an environment is protected, and which of its secrets have open changes. */
export interface Queue {
  isProtected: boolean
  /** The names of secrets with an open change. A change stays open after the protection ends. */
  names: ReadonlySet<string>
}

export const queuedQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'queued'],
    queryFn: async ({ signal }): Promise<Queue> => {
      // Not through the cache: it would join a request that is under way, and that began before the change.
      const read = await api.protection.get({ params: { orgId, envId } }, { signal })
      queryClient.setQueryData(protectionQuery(orgId, envId).queryKey, read)
      const { protection, openChangeRequests } = read
      const isProtected = protection !== null
      if (openChangeRequests === 0) return { isProtected, names: new Set() }
      const query = { status: 'open' as const, envId }
      const { changeRequests } = await api.changes.list({ params: { orgId }, query }, { signal })
      return { isProtected, names: new Set(changeRequests.flatMap(({ secretName }) => secretName ?? [])) }
    },
    structuralSharing: false,
  })

/** Returns the header for the reason of a change. It is percent-encoded, because header values are bytes. */
export const noteHeader = (note: string): { headers?: Record<string, string> } =>
  note.trim() === '' ? {} : { headers: { 'x-skerry-change-note': encodeURIComponent(note.trim()) } }
