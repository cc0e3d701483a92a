import { useEffect, useSyncExternalStore } from 'react'

// Whether a dialog in which something had been typed went with the session: the page for signing in says so.

let forgotten = false
const listeners = new Set<() => void>()

export function setForgotten(to: boolean): void {
  forgotten = to
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** For whoever tells it, which is enough. */
export function useForgotten(): boolean {
  useEffect(() => () => setForgotten(false), [])
  return useSyncExternalStore(subscribe, () => forgotten)
}
