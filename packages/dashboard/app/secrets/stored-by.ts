import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { versionsQuery } from '../drawer/queries.ts'
import { useNameOf } from './use-name-of.ts'

/** Returns the name of the person or token that stored a version, or "Someone" until it is known. */
export function useStoredBy(environmentId: string, name: string, version: number): string {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const query = useInfiniteQuery({ ...versionsQuery(org.id, environmentId, name, version), enabled: version > 0 })
  const stored = query.data?.pages[0]?.versions.find((one) => one.version === version)
  if (!stored) return 'Someone'
  const { createdById, createdByType } = stored
  const known = nameOf(createdById)
  if (known !== createdById) return known
  return createdByType === 'user'
    ? 'A former member'
    : createdByType === 'service_token'
      ? 'A service token'
      : 'The server'
}
