import type { Answer } from '@skerry/contract/endpoint'
import type { me } from '@skerry/contract/me/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

const quickCount = 300

type Holding = Answer<typeof me.keyHoldings>['holdings'][number]

/** The keys that the person holds in an organization. Asks every two seconds until there is one, and after ten minutes every 30 seconds. */
export const holdingsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'own-holdings'],
    queryFn: async ({ signal }) => {
      const { holdings } = await api.me.keyHoldings({}, { signal })
      return holdings.filter((one) => one.orgId === orgId)
    },
    refetchInterval: ({ state }) => (state.data?.length ? false : state.dataUpdateCount < quickCount ? 2000 : 30_000),
    staleTime: 0,
  })

/** Returns the slug of the first application among these, from a label such as `web-shop/production`. */
export function appOfHolding(holdings: readonly Holding[]): string | null {
  const slugs = holdings.flatMap(({ label }) => /^([^/:]+)\//.exec(label)?.[1] ?? [])
  return slugs[0] ?? null
}
