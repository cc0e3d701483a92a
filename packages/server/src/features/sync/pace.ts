import type { SyncLimits } from '@skerry/providers/sync/provider'

// How far apart pushes to one place stand. Pure, so that it can be tried for every destination without waiting.

/**
 * The longest pause before the first push of a run. A push is to begin within 5 seconds of a change, also right after another
 * one. Where that is too early for the service, it says so, and the pause that it asks for is kept.
 */
export const firstPauseMaxMs = 2000

/** The pause before a push, by the time since the last one to the same place. */
export function pauseBefore({ pushIntervalMs }: SyncLimits, sinceLastMs: number, isFirst: boolean): number {
  const left = Math.max(0, pushIntervalMs - sinceLastMs)
  return isFirst ? Math.min(left, firstPauseMaxMs) : left
}

/** How much of the pause a push need not wait for, because it used only a part of the names that it may have. */
export const spared = ({ pushIntervalMs, pushNamesMax }: SyncLimits, names: number): number =>
  pushNamesMax === null ? 0 : pushIntervalMs * Math.max(0, 1 - names / pushNamesMax)
