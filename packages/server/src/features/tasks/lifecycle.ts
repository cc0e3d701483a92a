import type { AgentTask } from '@skerry/contract/tasks/schemas'
import type { Static } from 'typebox'
import { lifecycle } from '../../kernel/lifecycle.ts'
import type { Task } from './scope.ts'

export type Status = Static<typeof AgentTask>['status']
export type Trigger = 'use' | 'time' | 'revoke'

/** A revoked task stays revoked when its time is up. */
export const taskLifecycle = lifecycle<Status, Trigger>('task', [
  ['active', 'use', 'active'],
  ['active', 'time', 'expired'],
  ['active', 'revoke', 'revoked'],
  ['expired', 'revoke', 'revoked'],
])

/** A revocation is stored. Expiry follows from the clock. */
export function statusOf({ revokedAt, expiresAt }: Pick<Task, 'revokedAt' | 'expiresAt'>, now: string): Status {
  const stored = revokedAt === null ? 'active' : 'revoked'
  return expiresAt > now ? stored : (taskLifecycle.next(stored, 'time') ?? stored)
}
