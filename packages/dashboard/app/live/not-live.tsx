import { lazy, Suspense } from 'react'
import { useNavOrg } from '../use-nav-org.ts'
import { useLive } from './state.ts'

// Loaded with the words of the audit log when somebody else changes something.
const ChangeNote = lazy(async () => ({ default: (await import('./change-note.tsx')).ChangeNote }))

/**
 * Says that the page may be out of date, or what somebody else has just changed. It is quiet: the page goes on working, and
 * reloads when the stream is back.
 */
export function NotLive() {
  const isLive = useLive((live) => live.isLive)
  const last = useLive((live) => live.recent.at(-1))
  const org = useNavOrg()
  return (
    <p className="side-live" role="status" aria-live="polite">
      {!isLive && 'Not live: reconnecting'}
      {isLive && last && org && (
        <Suspense>
          <ChangeNote orgId={org.id} change={last} />
        </Suspense>
      )}
    </p>
  )
}
