import type pg from 'pg'
import type { Reading, Snapshot, Sql } from './database.ts'
import { fetchRows } from './postgres-session.ts'
import { beginLazily } from './postgres-transaction.ts'

/** A connection for the snapshot alone. `release` returns it, and closes it if `spoilt` is true. */
export interface Lent {
  client: pg.ClientBase
  limitMs: number
  release: (spoilt: boolean) => void
}

/**
 * Opens one transaction with a constant view of the data, and a cursor for each reading.
 *
 * @param statementTimeoutMs longer than for other heavy reads, because the first rows of a cursor may have to be sorted
 */
export async function openPostgresSnapshot(
  { client, limitMs, release }: Lent,
  statementTimeoutMs: number,
  choose: (db: Sql) => Promise<Reading[]>,
): Promise<Snapshot> {
  const { tx, rollback } = beginLazily(client, limitMs, 'REPEATABLE READ READ ONLY')
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= rollback().then((isUsable) => release(!isUsable))
    return closing
  }
  try {
    await tx.foreign(`SET LOCAL statement_timeout = ${statementTimeoutMs}`)
    const readings = await choose(tx)
    for (const [index, { text, values }] of readings.entries())
      await tx.foreign(`DECLARE ${cursorOf(index)} NO SCROLL CURSOR FOR ${text}`, values)
  } catch (error) {
    await close()
    throw error
  }
  return { next: (reading, take) => fetchRows(client, cursorOf(reading), take, limitMs), close }
}

const cursorOf = (reading: number): string => `reading_${reading}`
