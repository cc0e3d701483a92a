import type { Answer } from '@skerry/contract/endpoint'
import type { logSink } from '@skerry/contract/log-sink/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export type LogSink = NonNullable<Answer<typeof logSink.get>['logSink']>

/** The server sends entries every minute. With this interval, a delivery appears soon after. */
const refreshMs = 15_000

export const logSinkQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'log-sink'],
    queryFn: ({ signal }) => api.logSink.get({ params: { orgId } }, { signal }),
    refetchInterval: ({ state }) => (state.data?.logSink ? refreshMs : false),
  })
