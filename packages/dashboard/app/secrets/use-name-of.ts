import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api } from '../api.ts'

export const membersQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'members'],
    queryFn: ({ signal }) => api.orgs.members({ params: { orgId } }, { signal }),
  })

export const tokensQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'tokens'],
    queryFn: ({ signal }) => api.tokens.list({ params: { orgId } }, { signal }),
  })

/** Returns a function that gives the name of a member or service token, or the ID if there is no name. */
export function useNameOf(orgId: string): (principalId: string) => string {
  const members = useQuery(membersQuery(orgId)).data?.members
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const tokens = useQuery({ ...tokensQuery(orgId), enabled: org.role !== 'member' }).data?.tokens
  return useMemo(() => {
    const names = new Map([
      ...(members ?? []).map(({ userId, name, email }) => [userId, name ?? email ?? userId] as const),
      ...(tokens ?? []).map(({ id, name }) => [id, name] as const),
    ])
    return (principalId) => names.get(principalId) ?? principalId
  }, [members, tokens])
}
