import { queryOptions } from '@tanstack/react-query'
import { fetchCached } from '../queries.ts'
import { compositionQuery, envQuery, groupQuery } from '../secrets/queries.ts'

interface Composed {
  environmentId: string
  label: string
  canDecrypt: boolean
}

/** The group environments that are composed into an environment, including those that this person cannot decrypt. */
export const composedQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'composed'],
    queryFn: async (): Promise<Composed[]> => {
      const { environment } = await fetchCached(envQuery(orgId, envId))
      if (environment.applicationId === null) return []
      const { groups } = await fetchCached(compositionQuery(orgId, envId))
      const found = await Promise.all(groups.map(({ groupId }) => fetchCached(groupQuery(orgId, groupId))))
      return found.flatMap(({ group, environments }) =>
        environments
          .filter(({ slug }) => slug === environment.slug)
          .map(({ id, name, canDecrypt }) => ({ environmentId: id, label: `${group.name} / ${name}`, canDecrypt })),
      )
    },
    staleTime: 0,
  })
