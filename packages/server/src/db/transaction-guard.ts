import { AsyncLocalStorage } from 'node:async_hooks'
import type { Tx } from './database.ts'
import { isStalePlan, isTransient } from './sql-errors.ts'

const RETRIES = 5

/** Runs a transaction again, as a whole, after failures that say nothing against it. */
export async function retryTransaction<T>(attempt: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (failures > RETRIES || !(isTransient(error) || isStalePlan(error))) throw error
    }
  }
}

/** Turns the deadlock of using the outer handle inside a transaction into an error at the place of the mistake. */
export interface Guard {
  checkOutside(): void
  inside<T>(work: (tx: Tx) => Promise<T>, tx: Tx): Promise<T>
}

const current = new AsyncLocalStorage<{ open: boolean; guard: Guard }>()

/** Throws inside of any transaction: a call to the outside would hold its locks for as long as the other side likes. */
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
      // What a transaction started and did not wait for may outlive it, and is then outside.
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
