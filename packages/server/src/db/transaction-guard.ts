import { AsyncLocalStorage } from 'node:async_hooks'
import type { Tx } from './database.ts'
import { isStalePlan, isTransient } from './sql-errors.ts'

const RETRIES = 5

/**
 * Runs the whole transaction again after failures that a retry can solve: deadlocks, serialization failures, stale
 * plans.
 */
export async function retryTransaction<T>(attempt: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (failures > RETRIES || !(isTransient(error) || isStalePlan(error))) throw error
    }
  }
}

/**
 * Throws when code inside a transaction uses the outer handle, which would deadlock. The error shows the wrong call.
 */
export interface Guard {
  checkOutside(): void
  inside<T>(work: (tx: Tx) => Promise<T>, tx: Tx): Promise<T>
}

const current = new AsyncLocalStorage<{ open: boolean; guard: Guard }>()

/**
 * Throws inside any transaction. A network call there would keep the locks for as long as the other side delays its
 * answer.
 */
export function checkNoTransaction(): void {
  if (current.getStore()?.open) throw new Error('Nothing outside is called while a transaction is open: it would wait')
}

export function createGuard(): Guard {
  const guard: Guard = {
    checkOutside() {
      const scope = current.getStore()
      if (scope?.open && scope.guard === guard)
        throw new Error('Inside of a transaction use the handle that it was given: the outer one would wait for ever')
    },
    async inside(work, tx) {
      // Work that a transaction started and did not await may outlive it. Such work then counts as outside.
      const scope = { open: true, guard }
      try {
        return await current.run(scope, () => work(tx))
      } finally {
        scope.open = false
      }
    },
  }
  return guard
}
