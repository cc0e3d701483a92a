import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { liveState } from '../live/state.ts'
import { fetchCached } from '../queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { showToast } from '../ui/toast.ts'
import { holdingsQuery } from '../welcome/holdings.ts'
import { countOf } from './grant-at-once.ts'

/** Says who granted keys to this person while they look on. */
export function useReceived(orgId: string): void {
  const { data } = useQuery({ ...holdingsQuery(orgId), refetchInterval: false })
  const known = useRef<ReadonlySet<string> | null>(null)
  useEffect(() => {
    if (data === undefined) return
    const before = known.current
    known.current = new Set(data.map(({ environmentId }) => environmentId))
    if (before === null) return
    const added = data.filter(({ environmentId }) => !before.has(environmentId))
    if (added.length > 0)
      void tell(
        orgId,
        added.map(({ environmentId }) => environmentId),
      )
  }, [data, orgId])
}

async function tell(orgId: string, environmentIds: readonly string[]): Promise<void> {
  const grants = liveState
    .recent()
    .filter(({ action, environmentId }) => action === 'key.granted' && environmentIds.includes(environmentId ?? ''))
  const actorId = grants.at(-1)?.actorId
  if (actorId === undefined) return
  const { members } = await fetchCached(membersQuery(orgId))
  const actor = members.find(({ userId }) => userId === actorId)
  showToast(`${actor?.name ?? actor?.email ?? 'An admin'} granted you ${countOf(environmentIds.length)}.`)
}
