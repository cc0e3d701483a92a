import type { audit } from '@skerry/contract/audit/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import type { AuditFilter } from './queries.ts'

export type TimelineAnswer = Answer<typeof audit.timeline>

export const timelineQuery = (orgId: string, filter: AuditFilter) => {
  const query = withinLimits(filter)
  return queryOptions({
    queryKey: ['orgs', orgId, 'audit', 'timeline', query],
    queryFn: ({ signal }) => api.audit.timeline({ params: { orgId }, query }, { signal }),
  })
}

const dayMs = 86_400_000

/** Shortens a longer period to the newest days that the server counts. */
function withinLimits(filter: AuditFilter): AuditFilter {
  if (filter.since === undefined) return filter
  const until = filter.until === undefined ? Date.now() : Date.parse(filter.until)
  const earliest = (Math.floor(until / dayMs) + 1 - limits.timelineDaysMax) * dayMs
  return Date.parse(filter.since) >= earliest ? filter : { ...filter, since: new Date(earliest).toISOString() }
}
