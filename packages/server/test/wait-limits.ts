import type { GuardedOutbound } from '../src/outbound/outbound.ts'

/** A timeout longer than any test, so that it never expires first, not even on a slow machine. */
export const longMs = 300_000

/** How long a server waits for an answer from outside, in milliseconds. Null means the product's own timeout. */
export interface WaitLimits {
  answerMs: number | null
}

/** Returns `outbound` with the timeout that the test has set at the time of a call. Lease databases have `longMs`. */
export function withWaitLimits(outbound: GuardedOutbound, waitLimits: WaitLimits): GuardedOutbound {
  const waiting = <To extends { timeoutMs?: number }, Answer>(call: (to: To) => Promise<Answer>) => {
    return (to: To) => call(waitLimits.answerMs === null ? to : { ...to, timeoutMs: waitLimits.answerMs })
  }
  return {
    ...outbound,
    answerMs: longMs,
    statementMs: longMs,
    send: waiting(outbound.send),
    connect: waiting(outbound.connect),
    httpsOnly: { ...outbound.httpsOnly, send: waiting(outbound.httpsOnly.send) },
    keepConnections() {
      const kept = outbound.keepConnections()
      return { ...kept, send: waiting(kept.send) }
    },
  }
}
