import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useRouteContext } from '@tanstack/react-router'
import { envQuery, sealedQuery } from '../secrets/queries.ts'

/** Returns the environment in the address. The pages below `envs/$env` appear only after it has loaded. */
export function useEnvironment() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { env } = useParams({ from: '/_app/orgs/$org/envs/$env' })
  return useSuspenseQuery(envQuery(org.id, env)).data.environment
}

/** Whether this person holds an environment's key. False until the server has answered. */
export function useHoldsKey(environmentId: string): boolean {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return !!useQuery(sealedQuery(org.id, environmentId)).data
}
