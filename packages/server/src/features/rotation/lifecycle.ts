import type { rotationStatuses } from '@skerry/contract/rotation'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof rotationStatuses)[number]
export type Trigger = 'pause' | 'resume' | 'run' | 'fail'

/** Only an admin pauses: a policy whose runs fail goes on trying, and tells of it. */
export const rotationLifecycle = lifecycle<Status, Trigger>('rotation', [
  ['active', 'pause', 'paused'],
  ['paused', 'pause', 'paused'],
  ['active', 'resume', 'active'],
  ['paused', 'resume', 'active'], // clears the failure streak
  ['active', 'run', 'active'],
  ['paused', 'run', 'paused'], // by the route alone: the scheduler leaves paused ones alone
  ['active', 'fail', 'active'],
  ['paused', 'fail', 'paused'],
])
