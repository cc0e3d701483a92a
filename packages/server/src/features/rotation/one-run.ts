import type { Context } from '../../http/context.ts'
import type { Origin } from '../../kernel/audit.ts'
import type { Rotation } from './scope.ts'

/** One run of a policy. No other run of the policy works at the same time. */
export interface Run {
  context: Context
  rotation: Rotation
  /** Identifies this run in everything that it writes, so that it does not touch what another run has taken over. */
  claimedBy: string
  /** The request that started the run; the system if the run was due. */
  origin: Origin
}

export interface RotationResult {
  rotation: Rotation
  version: number
  rotatedAt: string
}
