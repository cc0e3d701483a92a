import type { Sql } from '../db/database.ts'
import { type SealedFor, type ServerKey, sealed } from './server-key.ts'

export interface Rekeyed {
  /** Rows that were sealed anew. */
  resealed: number
  /** Rows that no key opens: sealed under one that is lost. They stay as they are. */
  unopened: { table: string; rows: number }[]
}

/**
 * Seals everything in the database under the newest server key. It may be broken off and started again at any point, by
 * several at once, and beside servers at work: each batch is one statement, and a row is changed only if it still holds
 * what was read. Whatever is under the newest key already is left alone.
 *
 * @param batchRows what one statement reads and writes
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

/** Whether these keys open what lies in the database, by the row of each table that `rekey` comes to last. */
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

const storedSeals = Object.entries(sealed).filter(
  (entry): entry is [SealedFor, NonNullable<(typeof entry)[1]>] => entry[1] !== null,
)

const columnsOf = (key: readonly string[], column: string) =>
  `array[${key.map((name) => `${name}::text`).join(', ')}] as key, ${column} as sealed`

/** In the order of the primary key, so that each batch begins where the one before ended. */
async function rekeyTable(
  db: Sql,
  serverKey: ServerKey,
  purpose: SealedFor,
  { table, key, column }: Place,
  batchRows: number,
) {
  const names = key.join(', ')
  const after = key.map((_, index) => `$${index + 1}`).join(', ')
  const page = `select ${columnsOf(key, column)} from ${table} where (${names}) > (${after}) order by ${names} limit $${key.length + 1}`
  const update = `
    update ${table} t set ${column} = given.resealed
      from unnest(${key.map((_, index) => `$${index + 3}::text[]`).join(', ')}, $1::text[], $2::text[])
        as given(${names}, was, resealed)
     where ${key.map((name) => `t.${name} = given.${name}`).join(' and ')} and t.${column} = given.was returning 1`
  const counts = { resealed: 0, unopened: 0 }
  let cursor = key.map(() => '')
  for (;;) {
    const rows = await db.rows<Row>(page, [...cursor, batchRows])
    const changed: (Row & { resealed: string })[] = []
    for (const row of rows) {
      const resealed = serverKey.reseal(purpose, row.key.join(' '), row.sealed)
      if (resealed === undefined) counts.unopened++
      else if (resealed !== null) changed.push({ ...row, resealed })
    }
    if (changed.length > 0) {
      const columns = key.map((_, index) => changed.map((row) => row.key[index]))
      const values = [changed.map((row) => row.sealed), changed.map((row) => row.resealed), ...columns]
      counts.resealed += (await db.rows(update, values)).length
    }
    if (rows.length < batchRows) return counts
    cursor = (rows.at(-1) as Row).key
  }
}
