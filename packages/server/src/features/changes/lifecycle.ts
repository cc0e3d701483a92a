import { lifecycle } from '../../kernel/lifecycle.ts'
import type { Status } from './store.ts'

export type Trigger = 'approve' | 'reject' | 'withdraw'

/** A change that is no longer `open` stays as it is. */
export const changeLifecycle = lifecycle<Status, Trigger>('change request', [
  ['open', 'approve', 'open'], // fewer approvals than it needs
  ['open', 'approve', 'applied'],
  ['open', 'approve', 'superseded'], // the secret has changed since the proposal
  ['open', 'reject', 'rejected'],
  ['open', 'withdraw', 'withdrawn'],
])
