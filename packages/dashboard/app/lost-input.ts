import { useEffect, useSyncExternalStore } from 'react'

// Whether the end of the session closed a dialog in which something had been typed. The sign-in page says so.

let isLost = false
const listeners = new Set<() => void>()

export function setInputLost(to: boolean): void {
  isLost = to
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** For the page that says so: once is enough. */
export function useInputLost(): boolean {
  useEffect(() => () => setInputLost(false), [])
  return useSyncExternalStore(subscribe, () => isLost)
}
