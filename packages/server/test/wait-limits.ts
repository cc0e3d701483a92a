import type { GuardedOutbound } from '../src/outbound/outbound.ts'

/** Longer than any test takes: where one side is to give up, which of them does is no race, and no slow machine decides it. */
export const longMs = 300_000

/** How long a server waits for an answer from outside, in milliseconds; null for as long as it does for an operator. */
export interface WaitLimits {
  answerMs: number | null
}

/** The same door, through which a server waits as long as the test says at that time. Databases of leases have `longMs`. */
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
