import type { recoveryRequestStatuses } from '@skerry/contract/recovery/schemas'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof recoveryRequestStatuses)[number]
export type Trigger = 'contribute' | 'complete' | 'cancel' | 'expire'

/** What has left `open` stays as it is. Another recovery key, or none, cancels what is open. */
export const requestLifecycle = lifecycle<Status, Trigger>('recovery request', [
  ['open', 'contribute', 'open'],
  ['open', 'complete', 'completed'],
  ['open', 'cancel', 'cancelled'],
  ['open', 'expire', 'expired'],
])
