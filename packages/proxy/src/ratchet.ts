import type { Operation } from '@skerry/crypto/policy-decide'
import type { RatchetConfig } from './config/ratchet.ts'
import { mayMatch } from './may-match.ts'

/** The message for the author of a run that has lost this host or secret. Null if the run may still use it. */
type Withdrawn = string | null

export interface Ratchet {
  host(run: string, host: string): Withdrawn
  secret(run: string, name: string): Withdrawn
  /** Records a permitted request, by which the run may lose something. A run never gets anything back. */
  advance(run: string, operation: Operation): void
}

/**
 * The most runs whose state is stored. Further runs get the narrowest state, because to forget a state would widen it.
 */
const runsMax = 10_000

interface Place {
  at: number
  label: string
}

/** A ratchet only takes away. It is checked after the policy has permitted something. */
export function openRatchet(config: RatchetConfig | null): Ratchet {
  const states = config?.states ?? [{ name: 'baseline', hosts: null, secrets: null }]
  const narrowest: Place = { at: states.length - 1, label: 'too many runs at once' }
  const runs = new Map<string, Place>()
  const placeOf = (run: string): Place => runs.get(run) ?? (runs.size < runsMax ? { at: 0, label: '' } : narrowest)
  const withdrawn = (run: string, what: string, left: (at: number) => readonly string[] | null): Withdrawn => {
    const { at, label } = placeOf(run)
    if (left(at)?.includes(what) !== false) return null
    return `this run can no longer use ${what}: "${label}" moved it to the state "${states[at]!.name}"; a new run starts in the first state`
  }
  return {
    host: (run, host) => withdrawn(run, host, (at) => states[at]!.hosts),
    secret: (run, name) => withdrawn(run, name, (at) => states[at]!.secrets),
    advance(run, operation) {
      const before = placeOf(run)
      let after = before
      for (const { rule, to, label } of config?.transitions ?? []) {
        if (to > after.at && mayMatch([rule], operation))
          after = { at: to, label: label ?? `${operation.method} ${operation.host}` }
      }
      if (after !== before && (runs.has(run) || runs.size < runsMax)) runs.set(run, after)
    },
  }
}
