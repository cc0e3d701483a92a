import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { mayMatch } from './may-match.ts'
import { Refusal } from './refusal.ts'

/** A request that waits for a person. It contains names of secrets, but no values. */
export interface Held {
  id: string
  operation: string
  host: string
  method: string
  /** Without the query. */
  path: string
  secrets: readonly string[]
  expiresAt: number
}

export const verdicts = ['approve', 'deny', 'always'] as const
export type Verdict = (typeof verdicts)[number]

export interface Approvals {
  /** Whether such a request needs the approval of a person. */
  requires(request: { host: string; method: string; path: string }): boolean
  /** Waits for a person. @throws Refusal if they deny the request, or if nobody answers in time. */
  hold(
    request: Omit<Held, 'id' | 'operation' | 'expiresAt'> & { ruleIndex: number },
    signal: AbortSignal,
  ): Promise<void>
  pending(): readonly Held[]
  /** False if the request no longer waits. */
  settle(id: string, verdict: Verdict): boolean
}

interface ApprovalDeps {
  timeoutSeconds: number
  rules: readonly PolicyRule[]
  now: () => number
  /** Called for each request that waits, with a signal that is aborted when it no longer waits. */
  onHeld?: ((held: Held, settled: AbortSignal) => void) | undefined
}

/** The most requests that wait at once. Further ones are refused, so that an agent cannot wear people out. */
const heldMax = 100

export function openApprovals({ timeoutSeconds, rules, now, onHeld }: ApprovalDeps): Approvals {
  const waiting = new Map<string, { held: Held; settle: (verdict: Verdict | 'timeout') => void }>()
  const always = new Set<string>()
  let count = 0
  return {
    requires: ({ host, method, path }) => mayMatch(rules, { host, method, path }),
    async hold({ ruleIndex, ...request }, signal) {
      const kind = JSON.stringify([ruleIndex, request.host, request.method])
      if (always.has(kind)) return
      if (waiting.size >= heldMax) throw denied('too many requests already wait for approval; try again later')
      const id = `apr_${(count++).toString(16).padStart(8, '0')}`
      const held: Held = {
        id,
        operation: `${request.method} ${request.host}${request.path}`,
        ...request,
        expiresAt: now() + timeoutSeconds * 1000,
      }
      const verdict = await wait(waiting, held, timeoutSeconds, signal, onHeld)
      if (verdict === 'always') always.add(kind)
      if (verdict === 'deny') throw denied('a person denied this request')
      if (verdict === 'timeout') throw denied('nobody approved this request in time')
    },
    pending: () => [...waiting.values()].map(({ held }) => held),
    settle(id, verdict) {
      const found = waiting.get(id)
      found?.settle(verdict)
      return found !== undefined
    },
  }
}

const denied = (message: string) => new Refusal(403, 'approval', message)

async function wait(
  waiting: Map<string, { held: Held; settle: (verdict: Verdict | 'timeout') => void }>,
  held: Held,
  timeoutSeconds: number,
  signal: AbortSignal,
  onHeld: ApprovalDeps['onHeld'],
): Promise<Verdict | 'timeout'> {
  const { promise, resolve } = Promise.withResolvers<Verdict | 'timeout'>()
  const settled = new AbortController()
  const timer = setTimeout(() => resolve('timeout'), timeoutSeconds * 1000)
  const leave = () => resolve('timeout')
  signal.addEventListener('abort', leave, { once: true })
  waiting.set(held.id, { held, settle: resolve })
  onHeld?.(held, settled.signal)
  try {
    return await promise
  } finally {
    waiting.delete(held.id)
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    settled.abort()
  }
}
