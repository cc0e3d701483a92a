import { useRouteContext } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api } from '../api.ts'
import { Face } from '../ui/who.tsx'
import { useMemberNames } from './member-names.ts'
import { useLive } from './state.ts'

/** Half of the time for which the server shows a person. */
const repeatMs = 15_000
const nobody: readonly { id: string; name: string }[] = []

/** Shows the other people who look at this application, and shows them this person. */
export function Others({ orgId, appId }: { orgId: string; appId: string }) {
  useLooking(orgId, appId)
  const { me } = useRouteContext({ from: '/_app' })
  const people = useLive((live) => live.people.get(appId) ?? nobody)
  const strangers = people.filter(({ id }) => id !== me.principal.id)
  // The event has no addresses, so a person without a name is looked up.
  const nameOf = useMemberNames(orgId, strangers.length > 0)
  const others = strangers.map(({ id, name }) => ({ id, name: nameOf(id) ?? name }))
  const names = others.map(({ name }) => name).join(', ')
  return (
    <span className="others" role="status" aria-label="Also here">
      {others.map(({ id, name }) => (
        <span key={id} title={`${name} is looking at this application`}>
          <Face name={name} />
        </span>
      ))}
      {names !== '' && <span className="unseen">{names} also here</span>}
    </span>
  )
}

/** Announces this person while the tab is visible. Errors are ignored, because older servers have no presence. */
function useLooking(orgId: string, appId: string): void {
  useEffect(() => {
    const params = { orgId, appId }
    const look = () => {
      if (document.visibilityState === 'visible') api.live.look({ params }).catch(noop)
      else leave()
    }
    const leave = () => void api.live.leave({ params }).catch(noop)
    look()
    const repeating = setInterval(() => document.visibilityState === 'visible' && look(), repeatMs)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(repeating)
      document.removeEventListener('visibilitychange', look)
      leave()
    }
  }, [orgId, appId])
}

const noop = () => {}
