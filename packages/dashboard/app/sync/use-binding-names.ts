import { vendorName } from '@skerry/contract/vendors'
import { useQuery } from '@tanstack/react-query'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { type Binding, connectionsQuery } from './queries.ts'

/** Returns a function that gives the label of a binding's environment. */
export function usePlaceOf(orgId: string) {
  const { data: environments } = useQuery(environmentLabelsQuery(orgId))
  return ({ environmentId }: Pick<Binding, 'environmentId'>): string =>
    environments?.find(({ id }) => id === environmentId)?.label ?? environmentId
}

/** Returns a function that gives a binding's kind of destination and its connection. */
export function useDescription(orgId: string) {
  const connections = useQuery(connectionsQuery(orgId)).data
  return ({ connectionId, destination: { provider } }: Pick<Binding, 'connectionId' | 'destination'>): string => {
    const name = connections?.find(({ id }) => id === connectionId)?.name ?? connectionId
    return `${vendorName(provider)} (${name})`
  }
}
