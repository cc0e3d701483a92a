import { useEffect, useSyncExternalStore } from 'react'

// Remembers that the session ended while a dialog had unsaved input. The sign-in page then says so.

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

/** For the sign-in page. The flag is cleared when that page closes, so the message appears once. */
export function useInputLost(): boolean {
  useEffect(() => () => setInputLost(false), [])
  return useSyncExternalStore(subscribe, () => isLost)
}
