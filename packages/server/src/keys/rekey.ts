import type { Sql } from '../db/database.ts'
import { type SealedFor, type ServerKey, sealed } from './server-key.ts'

export interface Rekeyed {
  /** The number of rows that were sealed again. */
  resealed: number
  /** The rows that no key opens, because their key is lost. They are left unchanged. */
  unopened: { table: string; rows: number }[]
}

/**
 * Seals all sealed data in the database under the newest server key. It can be interrupted and restarted at any point,
 * run several times at once, and run beside working servers. Each batch is one statement, which changes a row only if
 * it still has the value that was read. Data under the newest key is skipped.
 *
 * @param batchRows number of rows that one statement reads and writes
 */
export async function rekey(db: Sql, serverKey: ServerKey, batchRows = 500): Promise<Rekeyed> {
  const result: Rekeyed = { resealed: 0, unopened: [] }
  for (const [purpose, place] of storedSeals) {
    const found = await rekeyTable(db, serverKey, purpose, place, batchRows)
    result.resealed += found.resealed
    if (found.unopened > 0) result.unopened.push({ table: place.table, rows: found.unopened })
  }
  return result
}

/** Whether these keys open the data in the database. It checks the row of each table that `rekey` reaches last. */
export async function opensDatabase(db: Sql, serverKey: ServerKey): Promise<boolean> {
  for (const [purpose, { table, column, key }] of storedSeals) {
    const last = key.map((name) => `${name} desc`).join(', ')
    const row = await db.row<Row>(`select ${columnsOf(key, column)} from ${table} order by ${last} limit 1`)
    if (row && serverKey.open(purpose, row.key.join(' '), row.sealed) === undefined) return false
  }
  return true
}

interface Place {
  table: string
  key: readonly string[]
  column: string
}

interface Row {
  key: string[]
  sealed: string
}

export const storedSeals = Object.entries(sealed).filter(
  (entry): entry is [SealedFor, NonNullable<(typeof entry)[1]>] => entry[1] !== null,
)

const columnsOf = (key: readonly string[], column: string) =>
  `array[${key.map((name) => `${name}::text`).join(', ')}] as key, ${column} as sealed`

/** Reads in the order of the primary key, so that each page begins where the previous one ended. */
export async function* readSealed(
  db: Sql,
  { table, key, column }: Place,
  pageRows: number,
): AsyncGenerator<readonly Row[]> {
  const names = key.join(', ')
  const after = key.map((_, index) => `$${index + 1}`).join(', ')
  const page = `select ${columnsOf(key, column)} from ${table} where (${names}) > (${after}) order by ${names} limit $${key.length + 1}`
  let cursor = key.map(() => '')
  for (;;) {
    const rows = await db.rows<Row>(page, [...cursor, pageRows])
    yield rows
    if (rows.length < pageRows) return
    cursor = (rows.at(-1) as Row).key
  }
}

async function rekeyTable(db: Sql, serverKey: ServerKey, purpose: SealedFor, place: Place, batchRows: number) {
  const { table, key, column } = place
  const update = `
    update ${table} t set ${column} = given.resealed
      from unnest(${key.map((_, index) => `$${index + 3}::text[]`).join(', ')}, $1::text[], $2::text[])
        as given(${key.join(', ')}, was, resealed)
     where ${key.map((name) => `t.${name} = given.${name}`).join(' and ')} and t.${column} = given.was returning 1`
  const counts = { resealed: 0, unopened: 0 }
  for await (const rows of readSealed(db, place, batchRows)) {
    const changed: (Row & { resealed: string })[] = []
    for (const row of rows) {
      const resealed = serverKey.reseal(purpose, row.key.join(' '), row.sealed)
      if (resealed === undefined) counts.unopened++
      else if (resealed !== null) changed.push({ ...row, resealed })
    }
    if (changed.length === 0) continue
    const columns = key.map((_, index) => changed.map((row) => row.key[index]))
    const values = [changed.map((row) => row.sealed), changed.map((row) => row.resealed), ...columns]
    counts.resealed += (await db.rows(update, values)).length
  }
  return counts
}
