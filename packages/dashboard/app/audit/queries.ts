import type { audit } from '@skerry/contract/audit/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { displayNamePattern } from '@skerry/contract/patterns'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export type Entry = Answer<typeof audit.list>['entries'][number]

export type EntryEnvironment = Answer<typeof audit.list>['environments'][string]

export interface AuditFilter {
  action?: string
  resourceType?: string
  resourceId?: string
  actorId?: string
  requestId?: string
  environmentId?: string
  applicationId?: string
  text?: string
  since?: string
  until?: string
}

/** Entries of one request. */
export const pageSize = 50

export const auditQuery = (orgId: string, filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['orgs', orgId, 'audit', filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...filter, limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return api.audit.list({ params: { orgId }, query }, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** The entries that a list shows, newest first. */
export interface Shown {
  entries: readonly Entry[]
  /** When the list was loaded, in epoch milliseconds. */
  atMs: number
}

/** An entry of a transaction that took longer may appear below a newer one. */
const overlapMs = 60_000

/** Bounds the search if the list is empty: a search with a rare filter would read the whole log at each change. */
const emptyMs = 86_400_000

/**
 * The matching entries that were added since the list was loaded. Every change in the organization makes it stale, until it has
 * as many entries as a page of the list.
 */
export function newEntriesQuery(orgId: string, filter: AuditFilter, { entries, atMs }: Shown) {
  const newest = entries[0]
  const sinceMs = Math.max(
    filter.since === undefined ? 0 : Date.parse(filter.since),
    newest === undefined ? atMs - emptyMs : Date.parse(newest.createdAt) - overlapMs,
  )
  return queryOptions({
    queryKey: ['orgs', orgId, 'new-entries', filter, newest?.id],
    queryFn: async ({ signal }) => {
      const query = { ...filter, since: new Date(sinceMs).toISOString(), limit: pageSize }
      const found = await api.audit.list({ params: { orgId }, query }, { signal })
      const known = new Set(entries.map(({ id }) => id))
      return found.entries.filter(({ id }) => !known.has(id))
    },
    initialData: [],
    initialDataUpdatedAt: atMs,
    enabled: ({ state }) => (state.data?.length ?? 0) < pageSize,
  })
}

const id = /^[A-Za-z0-9_]{1,64}$/
const name = new RegExp(displayNamePattern)

const isInstant = (text: unknown): text is string =>
  typeof text === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(text) && !Number.isNaN(Date.parse(text))

/**
 * The pattern of an action and of a resource type. The page's table of names then drops unknown ones (known-names.ts).
 */
const noun = /^[a-z0-9_.]{1,64}$/

/** Returns the filter in an address. Texts that do not match the pattern of their field are dropped. */
export function filterOf({
  action,
  resourceType,
  resourceId,
  actorId,
  requestId,
  environmentId,
  applicationId,
  text,
  since,
  until,
}: Record<string, unknown>): AuditFilter {
  return {
    ...(typeof action === 'string' && noun.test(action) ? { action } : {}),
    ...(typeof resourceType === 'string' && noun.test(resourceType) ? { resourceType } : {}),
    ...(typeof resourceId === 'string' && id.test(resourceId) ? { resourceId } : {}),
    ...(typeof actorId === 'string' && id.test(actorId) ? { actorId } : {}),
    ...(typeof requestId === 'string' && id.test(requestId) ? { requestId } : {}),
    ...(typeof environmentId === 'string' && id.test(environmentId) ? { environmentId } : {}),
    ...(typeof applicationId === 'string' && id.test(applicationId) ? { applicationId } : {}),
    ...(typeof text === 'string' && text.length <= 200 && name.test(text) ? { text } : {}),
    ...(isInstant(since) ? { since } : {}),
    ...(isInstant(until) ? { until } : {}),
  }
}
