import { useQuery } from '@tanstack/react-query'
import { use } from 'react'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { type Binding, connectionsQuery } from './queries.ts'
import { syncSchemas } from './schemas.ts'

/** The environment of a binding, as people know it. */
export function usePlaceOf(orgId: string) {
  const { data: environments } = useQuery(environmentLabelsQuery(orgId))
  return ({ environmentId }: Pick<Binding, 'environmentId'>): string =>
    environments?.find(({ id }) => id === environmentId)?.label ?? environmentId
}

/** The connection of a binding, with what kind of destination it is. */
export function useDescription(orgId: string) {
  const providers = use(syncSchemas())
  const connections = useQuery(connectionsQuery(orgId)).data
  return ({ connectionId, destination: { provider } }: Pick<Binding, 'connectionId' | 'destination'>): string => {
    const name = connections?.find(({ id }) => id === connectionId)?.name ?? connectionId
    return `${providers.get(provider)?.label ?? provider} (${name})`
  }
}
