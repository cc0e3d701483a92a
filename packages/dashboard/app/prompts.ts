import { useSyncExternalStore } from 'react'

/** Ends an action without an error to show. Code that waits for a prompt gets it when the person closes the dialog. */
export class Cancelled extends Error {}

/**
 * Something that code asks the person for, and that a dialog gets from them. Code that asks while the dialog is open waits
 * for the same dialog.
 *
 * @example await stepUpPrompt.ask() // in code; in the dialog: useOpen(), complete(), cancel()
 */
function createPrompt() {
  let open: { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } | null = null
  /** The person cancelled, and has done nothing since: what else is asked until then counts as cancelled, too. */
  let cancelled = false
  const allowAgain = () => {
    cancelled = false
  }
  for (const event of ['click', 'keydown', 'popstate']) addEventListener(event, allowAgain, { capture: true })
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
      if (cancelled) return Promise.reject(new Cancelled())
      if (!open) change(Promise.withResolvers<void>())
      return open!.promise
    },
    complete() {
      const was = open
      change(null)
      was?.resolve()
    },
    cancel() {
      const was = open
      cancelled = true
      change(null)
      was?.reject(new Cancelled())
    },
    useOpen: () => useSyncExternalStore(subscribe, () => open !== null),
  }
}

/** Asks for the second factor again. */
export const stepUpPrompt = createPrompt()

/** Asks to unlock the keyring. */
export const unlockPrompt = createPrompt()

/** Asks whether somebody meant it that a name means another environment than before. */
export const swappedPrompt = createPrompt()

/** Asks whether readers that this browser does not know may get a key. */
export const readersPrompt = createPrompt()

/** Asks whether somebody meant it that a lease target has other settings than before. */
export const targetPrompt = createPrompt()
