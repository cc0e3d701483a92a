import type { Database, Tx } from '../src/db/database.ts'

/** A transaction that has done its work, and stays open with the locks that it took until it is told to commit. */
export async function held(db: Database, work: (tx: Tx) => Promise<unknown>): Promise<{ commit: () => Promise<void> }> {
  const done = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const transaction = db.transaction(async (tx) => {
    await work(tx)
    done.resolve()
    await released.promise
  })
  // Work that fails ends the transaction, and is said here.
  await Promise.race([done.promise, transaction])
  return {
    commit: () => {
      released.resolve()
      return transaction
    },
  }
}

/** How many sessions of this database wait for a lock. On PostgreSQL alone: the embedded database has one. */
export async function waiting(db: Database): Promise<number> {
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await db.rows(waits)).length
}
