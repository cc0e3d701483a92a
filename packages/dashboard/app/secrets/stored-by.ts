import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { versionsQuery } from '../drawer/queries.ts'
import type { Column } from './columns.ts'
import type { Draft } from './use-edits.ts'
import { useNameOf } from './use-name-of.ts'

/**
 * Returns the version of another person that a draft would replace, or null. Zero means that somebody deleted the secret.
 * The stream of changes brings it while the draft is typed, or the server refuses the draft because of it.
 */
export function newerVersion(column: Column, name: string, draft: Draft): number | null {
  if (draft.theirs) return draft.theirs.version
  if (draft.saving || column.loading || !column.own) return null
  const entry = column.entries.get(name)
  const version = entry?.own ? entry.secret.version : 0
  return version === draft.baseVersion ? null : version
}

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
