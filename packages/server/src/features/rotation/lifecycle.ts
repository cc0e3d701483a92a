import type { rotationStatuses } from '@skerry/contract/rotation/schemas'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof rotationStatuses)[number]
export type Trigger = 'pause' | 'resume' | 'configure'

/**
 * Only an admin can pause a policy. A policy whose runs fail keeps trying and reports its failures. A run never changes
 * the status.
 */
export const rotationLifecycle = lifecycle<Status, Trigger>('rotation', [
  ['active', 'pause', 'paused'],
  ['paused', 'pause', 'paused'],
  ['active', 'resume', 'active'],
  ['paused', 'resume', 'active'], // clears the failure streak
  ['active', 'configure', 'active'],
  ['paused', 'configure', 'active'], // a new configuration of the same secret starts over
])
