import { fail } from '../../kernel/errors.ts'

export type Stored = 'pending' | 'approved' | 'denied'
/** `expired` is not stored: a request that nobody decided on is so when its time is up. */
export type Status = Stored | 'expired'
export type Trigger = 'approve' | 'deny' | 'time'

/** Everything that can happen to a request. */
export const transitions: readonly [from: Status, trigger: Trigger, to: Status][] = [
  ['pending', 'approve', 'approved'],
  ['pending', 'deny', 'denied'],
  ['pending', 'time', 'expired'],
]

const next = (from: Status, trigger: Trigger): Status | undefined =>
  transitions.find(([state, by]) => state === from && by === trigger)?.[2]

export interface Request {
  status: Stored
  expiresAt: string
}

export const statusOf = ({ status, expiresAt }: Request, now: string): Status =>
  expiresAt > now ? status : (next(status, 'time') ?? status)

/** The state that a decision leads to; a request that has been decided, or has run out, stays what it is. */
export function decided(request: Request, decision: 'approve' | 'deny', now: string): Status {
  const status = statusOf(request, now)
  const to = next(status, decision)
  if (!to) throw fail('conflict', `the request is ${status} already`)
  return to
}
