import { lifecycle } from '../../kernel/lifecycle.ts'

export type Stored = 'pending' | 'approved' | 'denied'
/** `expired` is not stored: a request without a decision is expired once its time is up. */
export type Status = Stored | 'expired'
export type Trigger = 'approve' | 'deny' | 'time'

export const loginLifecycle = lifecycle<Status, Trigger>('request', [
  ['pending', 'approve', 'approved'],
  ['pending', 'deny', 'denied'],
  ['pending', 'time', 'expired'],
])

export interface Request {
  status: Stored
  expiresAt: string
}

export const statusOf = ({ status, expiresAt }: Request, now: string): Status =>
  expiresAt > now ? status : (loginLifecycle.next(status, 'time') ?? status)

/** Returns the state after a decision. Refuses it if the request has been decided or has expired. */
export function decided(request: Request, decision: 'approve' | 'deny', now: string): Status {
  const status = statusOf(request, now)
  loginLifecycle.check(status, decision)
  return loginLifecycle.next(status, decision) as Status
}
