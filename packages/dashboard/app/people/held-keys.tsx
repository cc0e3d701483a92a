import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { fetchCached } from '../queries.ts'
import { environmentLabelsQuery, type Place } from './environment-labels.ts'

/** The environments whose key a member or token has. */
const heldKeysQuery = (orgId: string, principalId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'holdings', principalId],
    queryFn: async ({ signal }): Promise<Place[]> => {
      const places = await fetchCached(environmentLabelsQuery(orgId))
      const held = await Promise.all(
        places.map(async ({ id }) => {
          const { grants } = await api.grants.list({ params: { orgId, envId: id } }, { signal })
          return grants.some((grant) => grant.principalId === principalId)
        }),
      )
      return places.filter((_, i) => held[i])
    },
    staleTime: 0,
  })

/** Says which environments a member or token can decrypt. Shown before their access ends. */
export function HeldKeys({ principalId }: { principalId: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: places, error } = useQuery(heldKeysQuery(org.id, principalId))
  if (error) return <>The keys that they hold could not be loaded.</>
  if (!places) return <>Looking for the keys that they hold…</>
  if (places.length === 0) return <>They hold the key of no environment.</>
  return <>They hold the key of {places.map(({ label }) => label).join(', ')}.</>
}
