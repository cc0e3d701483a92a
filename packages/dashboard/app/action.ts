import { useCallback, useRef, useState } from 'react'
import { Cancelled } from './prompts.ts'

/**
 * An action that a person starts: one run at a time, with its error to show. A prompt that the person cancelled is no error.
 *
 * @example const rename = useAction(async () => { await api.orgs.update(...) })
 */
export function useAction<A extends unknown[]>(work: (...args: A) => Promise<unknown>) {
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const running = useRef(false)
  const latest = useRef(work)
  latest.current = work
  const run = useCallback(async (...args: A) => {
    if (running.current) return
    running.current = true
    setPending(true)
    setError(null)
    try {
      await latest.current(...args)
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setError(thrown)
    } finally {
      running.current = false
      setPending(false)
    }
  }, [])
  return { run, pending, error }
}
