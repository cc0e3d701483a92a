import type { Sql, Tx } from '../db/database.ts'
import { openKeypairs } from './keypairs.ts'
import type { KeyOwner } from './keypairs-store.ts'
import { readSealed, storedSeals } from './rekey.ts'
import { type SealedFor, type ServerKey, sealed } from './server-key.ts'

// Rows that a server key does not open, after the key was lost, or so that an attacker with the former key gains nothing.

/** A row with sealed data. `key` is its primary key. */
export interface SealedRow {
  purpose: SealedFor
  key: string[]
  sealed: string
}

const pageRows = 500

/** Calls `visit` for every row with sealed data. */
export async function visitSealed(db: Sql, visit: (row: SealedRow) => void): Promise<void> {
  for (const [purpose, place] of storedSeals)
    for await (const rows of readSealed(db, place, pageRows)) for (const row of rows) visit({ purpose, ...row })
}

export const opens = (serverKey: ServerKey, { purpose, key, sealed }: SealedRow): boolean =>
  serverKey.open(purpose, key.join(' '), sealed) !== undefined

/**
 * Deletes rows, except those that have changed since they were read. A deleted key pair is replaced with a new one at
 * once, because its owner needs one. All grants to the owner end with the old key pair.
 *
 * @returns the deleted rows
 */
export async function dropSealed(
  tx: Tx,
  serverKey: ServerKey,
  rows: readonly SealedRow[],
  now: () => Date,
): Promise<SealedRow[]> {
  const dropped: SealedRow[] = []
  for (const [purpose] of storedSeals) {
    const wanted = rows.filter((row) => row.purpose === purpose)
    if (wanted.length > 0) dropped.push(...(await deleteRows(tx, purpose, wanted)))
  }
  const keypairs = openKeypairs(serverKey, now)
  for (const row of dropped) if (row.purpose === 'keypair') await keypairs.publicKey(tx, ownerOf(row))
  return dropped
}

async function deleteRows(tx: Tx, purpose: SealedFor, rows: readonly SealedRow[]): Promise<SealedRow[]> {
  const place = sealed[purpose]
  if (place === null) return []
  const { table, column } = place
  const key: readonly string[] = place.key
  const deleted = await tx.rows<{ sealed: string }>(
    `delete from ${table} t
      using unnest($1::text[], ${key.map((_, index) => `$${index + 2}::text[]`).join(', ')})
         as given(was, ${key.join(', ')})
      where ${key.map((name) => `t.${name} = given.${name}`).join(' and ')} and t.${column} = given.was
     returning given.was as sealed`,
    [rows.map((row) => row.sealed), ...key.map((_, index) => rows.map((row) => row.key[index]))],
  )
  const gone = new Set(deleted.map((row) => row.sealed))
  return rows.filter((row) => gone.has(row.sealed))
}

/** The owner of a row of `server_keypairs`. */
export const ownerOf = ({ key: [orgId, purpose, id] }: SealedRow): KeyOwner => ({ orgId, purpose, id }) as KeyOwner
