import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export const invitesQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'invites'],
    queryFn: ({ signal }) => api.invites.list({ params: { orgId } }, { signal }),
  })
