import { useMemo } from 'react'
import type { Column } from '../secrets/columns.ts'
import { useMemberNames } from './member-names.ts'
import { type RecentChange, useLive } from './state.ts'

const verbs: Record<string, string> = {
  'secret.written': 'Changed',
  'secret.restored': 'Restored',
  'secret.renamed': 'Renamed',
  'secret.deleted': 'Deleted',
  'secret.undeleted': 'Restored',
  'secret.described': 'Described',
  'change_request.opened': 'Proposed',
  'change_request.applied': 'Changed',
}

/** Says who has just changed a secret in these environments. It disappears after some seconds. */
export function ChangedNote({ orgId, columns }: { orgId: string; columns: Column[] }) {
  const recent = useLive(({ recent }) => recent)
  const nameOf = useMemberNames(orgId, recent.length > 0)
  const last = recent.findLast(
    ({ action, environmentId }) =>
      verbs[action] !== undefined && columns.some((one) => one.environmentId === environmentId),
  )
  return (
    <span className="matrix-changed" role="status" aria-live="polite">
      {last && `${verbs[last.action]} by ${nameOf(last.actorId) ?? actorText(last)} just now`}
    </span>
  )
}

const actorText = ({ actorType }: RecentChange): string =>
  actorType === 'service_token' ? 'a service token' : actorType === 'user' ? 'a member' : 'the server'

/** Returns the environments of each secret that somebody else has just changed, by the secret's name. */
export function useChangedCells(columns: Column[]): ReadonlyMap<string, readonly string[]> {
  const recent = useLive(({ recent }) => recent)
  return useMemo(() => {
    const ids = new Set(
      recent.flatMap(({ resourceType, resourceId }) => (resourceType === 'secret' ? [resourceId] : [])),
    )
    const changed = new Map<string, string[]>()
    if (ids.size > 0)
      for (const { environmentId, entries } of columns)
        for (const [name, { own, secret }] of entries)
          if (own && ids.has(secret.id)) changed.set(name, [...(changed.get(name) ?? []), environmentId])
    return changed
  }, [recent, columns])
}
