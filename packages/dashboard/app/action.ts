import { useCallback, useRef, useState } from 'react'
import { Cancelled } from './prompts.ts'
import { invalidate, type Stale } from './queries.ts'

/** The steps that follow when the work of an action has succeeded. */
export interface After<A extends unknown[]> {
  /** The queries that the work made stale. The action is pending until those on the page have loaded again. */
  stale?: readonly Stale[] | ((...args: A) => readonly Stale[])
  /** Called last. */
  done?: () => void
}

/**
 * An action that a person starts: one run at a time, with its error to show. `Cancelled` is not shown: the person closed a
 * prompt, or the form shows the problem at a field.
 *
 * @example
 * const revoke = useAction((taskId: string) => api.tasks.revoke({ params: { taskId } }), { stale: [tasksQuery(org.id)] })
 */
export function useAction<A extends unknown[]>(work: (...args: A) => Promise<unknown>, after: After<A> = {}) {
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const running = useRef(false)
  const latest = useRef({ work, after })
  latest.current = { work, after }
  const run = useCallback(async (...args: A) => {
    if (running.current) return
    running.current = true
    setPending(true)
    setError(null)
    const { work, after } = latest.current
    const { stale = [], done } = after
    try {
      await work(...args)
      await invalidate(...(typeof stale === 'function' ? stale(...args) : stale))
      done?.()
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setError(thrown)
    } finally {
      running.current = false
      setPending(false)
    }
  }, [])
  return { run, pending, error }
}
