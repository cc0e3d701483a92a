import { useSyncExternalStore } from 'react'

/**
 * Ends an action without showing an error. Thrown to code that waits for a prompt when the person closes the dialog.
 */
export class Cancelled extends Error {}

/**
 * A request to the person, answered in a dialog. If the dialog is already open, further callers wait for the same
 * dialog.
 *
 * @example await stepUpPrompt.ask() // in code; in the dialog: useOpen(), complete(), cancel()
 */
function createPrompt() {
  let open: { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } | null = null
  /**
   * True from a cancel until the person's next click, key press or step in the history. Prompts in between count as
   * cancelled, too.
   */
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

/** Asks the person to confirm that a name now belongs to another environment than before. */
export const swappedPrompt = createPrompt()

/** Asks whether readers that this browser does not know may get a key. */
export const readersPrompt = createPrompt()

/** Asks a signer for the pin of the signed directory. */
export const pinPrompt = createPrompt()

/** Asks the person to confirm the changed settings of a lease target. */
export const targetPrompt = createPrompt()
