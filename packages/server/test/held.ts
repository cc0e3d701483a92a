import type { Database, Tx } from '../src/db/database.ts'

/** Does the work in a transaction, and keeps it open with its locks until `commit` is called. */
export async function held(db: Database, work: (tx: Tx) => Promise<unknown>): Promise<{ commit: () => Promise<void> }> {
  const done = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const transaction = db.transaction(async (tx) => {
    await work(tx)
    done.resolve()
    await released.promise
  })
  // If the work fails, the transaction ends and its error is thrown here.
  await Promise.race([done.promise, transaction])
  return {
    commit: () => {
      released.resolve()
      return transaction
    },
  }
}

/** Counts the sessions of this database that wait for a lock. PostgreSQL only: the embedded database has just one. */
export async function waiting(db: Database): Promise<number> {
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await db.rows(waits)).length
}
