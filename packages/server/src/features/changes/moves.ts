import { fail } from '../../kernel/errors.ts'
import type { Status } from './store.ts'

export type Trigger = 'approve' | 'reject' | 'withdraw'

/** Every move of a change request: from, trigger, to. There is no other, so what has left `open` stays as it is. */
export const moves: readonly (readonly [from: Status, trigger: Trigger, to: Status])[] = [
  ['open', 'approve', 'open'], // fewer approvals than it needs
  ['open', 'approve', 'applied'],
  ['open', 'approve', 'superseded'], // the secret is no longer what the change was proposed on
  ['open', 'reject', 'rejected'],
  ['open', 'withdraw', 'withdrawn'],
]

export function checkMove(status: Status, trigger: Trigger): void {
  if (!moves.some(([from, by]) => from === status && by === trigger))
    throw fail('conflict', `the change request is ${status}`)
}
