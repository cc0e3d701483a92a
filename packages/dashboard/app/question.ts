import { useSyncExternalStore } from 'react'

/** What a question's asker gets when the person closed the dialog. No failure of what they had set off. */
export class Cancelled extends Error {}

/**
 * A question that code asks and a dialog answers. Whoever asks while it is open waits for the same answer.
 *
 * @example await stepUp.ask() // in code; in the dialog: stepUp.useOpen(), stepUp.answer(), stepUp.cancel()
 */
export function createQuestion() {
  let open: { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } | null = null
  /** By the person, who has done nothing since: whatever else is asked then is answered for, too. */
  let closed = false
  const reopen = () => {
    closed = false
  }
  for (const deed of ['click', 'keydown', 'popstate']) addEventListener(deed, reopen, { capture: true })
  const listeners = new Set<() => void>()
  const change = (to: typeof open) => {
    open = to
    for (const listener of listeners) listener()
  }
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    ask(): Promise<void> {
      if (closed) return Promise.reject(new Cancelled())
      if (!open) change(Promise.withResolvers<void>())
      return open!.promise
    },
    answer() {
      const was = open
      change(null)
      was?.resolve()
    },
    cancel() {
      const was = open
      closed = true
      change(null)
      was?.reject(new Cancelled())
    },
    useOpen: () => useSyncExternalStore(subscribe, () => open !== null),
  }
}

/** "Enter your second factor again." */
export const stepUp = createQuestion()

/** "Unlock your keyring." */
export const unlocking = createQuestion()

/** "This name means another environment than before." */
export const swapped = createQuestion()
