import type { Context } from '../../http/context.ts'
import type { Evictions } from '../../kernel/context.ts'
import { lookAtChanges } from './changes.ts'

/** A change is looked at once nothing has followed it for so long, */
const quietMs = 800
/** and this long after the first one at the latest: a push is to begin within 5 seconds. */
const patienceMs = 3000

export interface Watch extends Evictions {
  start(context: Context): void
  stop(): Promise<void>
}

/**
 * Hears of every committed change where this process’s resolve cache does, and looks at changes soon after: those that come
 * together are one push. Only a hint: a change that no process hears of is still a row, which the sweep finds.
 */
export function openWatch(): Watch {
  let context: Context | null = null
  let timer: NodeJS.Timeout | undefined
  let firstAtMs = 0
  let looking: Promise<void> = Promise.resolve()

  const look = () => {
    timer = undefined
    const { faults } = context as Context
    looking = lookAtChanges(context as Context).catch((error) => faults.warn('could not look at changes', error))
  }
  return {
    evict() {
      if (context === null) return
      const nowMs = performance.now()
      if (timer === undefined) firstAtMs = nowMs
      clearTimeout(timer)
      timer = setTimeout(look, Math.max(0, Math.min(quietMs, firstAtMs + patienceMs - nowMs)))
    },
    start(started) {
      context = started
    },
    async stop() {
      context = null
      clearTimeout(timer)
      await looking
    },
  }
}
