import type { recoveryRequestStatuses } from '@skerry/contract/recovery/schemas'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof recoveryRequestStatuses)[number]
export type Trigger = 'contribute' | 'complete' | 'cancel' | 'expire'

/** A request that is no longer `open` never changes. Replacing or removing the recovery key cancels open requests. */
export const requestLifecycle = lifecycle<Status, Trigger>('recovery request', [
  ['open', 'contribute', 'open'],
  ['open', 'complete', 'completed'],
  ['open', 'cancel', 'cancelled'],
  ['open', 'expire', 'expired'],
])
