import type { rotationStatuses } from '@skerry/contract/rotation/schemas'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof rotationStatuses)[number]
export type Trigger = 'pause' | 'resume' | 'configure'

/** Only an admin pauses: a policy whose runs fail goes on trying, and tells of it. No run moves a policy. */
export const rotationLifecycle = lifecycle<Status, Trigger>('rotation', [
  ['active', 'pause', 'paused'],
  ['paused', 'pause', 'paused'],
  ['active', 'resume', 'active'],
  ['paused', 'resume', 'active'], // clears the failure streak
  ['active', 'configure', 'active'],
  ['paused', 'configure', 'active'], // another configuration of the same secret begins anew
])
