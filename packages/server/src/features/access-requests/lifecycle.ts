import type { accessRequestStatuses } from '@skerry/contract/access-requests/schemas'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof accessRequestStatuses)[number]
type Trigger = 'grant' | 'decline' | 'withdraw' | 'expire'

/** A request that is no longer `open` never changes. */
export const requestLifecycle = lifecycle<Status, Trigger>('access request', [
  ['open', 'grant', 'granted'],
  ['open', 'decline', 'declined'],
  ['open', 'withdraw', 'withdrawn'],
  ['open', 'expire', 'expired'],
])
