import { lifecycle } from '../../kernel/lifecycle.ts'
import type { Status } from './store.ts'

export type Trigger = 'approve' | 'reject' | 'withdraw'

/** What has left `open` stays as it is. */
export const changeLifecycle = lifecycle<Status, Trigger>('change request', [
  ['open', 'approve', 'open'], // fewer approvals than it needs
  ['open', 'approve', 'applied'],
  ['open', 'approve', 'superseded'], // the secret is no longer what the change was proposed on
  ['open', 'reject', 'rejected'],
  ['open', 'withdraw', 'withdrawn'],
])
