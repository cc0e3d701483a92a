import type { Held, Verdict } from '@skerry/proxy/approvals'
import { choose } from '../prompt.ts'

const options = [
  { value: 'approve', label: 'approve this request' },
  { value: 'deny', label: 'deny it' },
  { value: 'always', label: 'approve all of this rule, host and method, until the proxy ends' },
] as const satisfies { value: Verdict; label: string }[]

/** Asks on the terminal about each request that waits, one after the other. Ctrl-C denies. */
export function askOnTerminal(settle: (id: string, verdict: Verdict) => void) {
  let last: Promise<void> = Promise.resolve()
  return (held: Held, settled: AbortSignal): void => {
    last = last.then(async () => {
      if (settled.aborted) return
      const names = held.secrets.length === 0 ? 'no secret' : held.secrets.join(', ')
      const verdict = await choose(`${held.operation} with ${names}`, options, settled)
      if (!settled.aborted) settle(held.id, verdict ?? 'deny')
    })
  }
}
