import type { Context } from '../../http/context.ts'
import type { Origin } from '../../kernel/audit.ts'
import type { Rotation } from './scope.ts'

/** One run of a policy, which nobody else runs meanwhile. */
export interface Run {
  context: Context
  rotation: Rotation
  /** Names this run wherever it writes, so that what another has taken over is left alone. */
  claimedBy: string
  /** Who asked for it; nobody, where its time has come. */
  origin: Origin
}

export interface RotationResult {
  rotation: Rotation
  version: number
  rotatedAt: string
}
