import type { Database, Reading, Snapshot, Sql } from './database.ts'
import type { Connection } from './pglite-connection.ts'

interface Parts {
  connection: Connection
  exclusive: <T>(work: () => Promise<T>) => Promise<T>
  transact: Database['transaction']
}

let snapshots = 0

/**
 * The cursors outlive their transaction. At its end PostgreSQL copies their rows to temporary files, so that other
 * callers can use the connection between two fetches. Copying 1,000,000 versions takes about 2 s, during which no other
 * statement runs.
 */
export async function openEmbeddedSnapshot(
  { connection, exclusive, transact }: Parts,
  choose: (db: Sql) => Promise<Reading[]>,
): Promise<Snapshot> {
  const name = `snapshot_${snapshots++}`
  const cursors = await transact(async (tx) => {
    const readings = await choose(tx)
    for (const [index, { text, values }] of readings.entries())
      await tx.foreign(`DECLARE ${name}_${index} NO SCROLL CURSOR WITH HOLD FOR ${text}`, values)
    return readings.map((_, index) => `${name}_${index}`)
  })
  const open = new Set(cursors)
  return {
    next: (reading, take) => exclusive(() => connection.fetch(cursors[reading] as string, take)),
    async close() {
      const left = [...open]
      open.clear()
      for (const cursor of left) await exclusive(() => connection.foreign(`CLOSE ${cursor}`))
    },
  }
}
