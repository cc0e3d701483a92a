import type { Tx } from '../../db/database.ts'
import type { Section } from '../archive.ts'

export type Row = Record<string, unknown>

/** Inserts the rows of a section under their original ids. */
export const insertRows = (tx: Tx, orgId: string, { table, columns, filled }: Section, rows: readonly Row[]) =>
  tx.rows(
    `insert into ${table} (org_id, ${columns}${filled ? `, ${filled.columns}` : ''})
     select $1, ${columns}${filled ? `, ${filled.sql}` : ''} from jsonb_populate_recordset(null::${table}, $2::jsonb)`,
    [orgId, JSON.stringify(rows.map(underColumns))],
  )

/** Turns `createdAt` into `created_at` in the names of columns, and leaves their values as they are. */
const underColumns = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )

export const findSame = (tx: Tx, id: string, slug: string) =>
  tx.row<{ id: string; slug: string }>('select id, slug from organizations where id = $1 or slug = $2', [id, slug])

export const listKnown = (tx: Tx, { id, issuer, subject }: Row) =>
  tx.rows<{ id: string; issuer: string; subject: string; publicKeyJwk: string | null }>(
    'select id, issuer, subject, public_key_jwk from users where id = $1 or (issuer = $2 and subject = $3)',
    [id, issuer, subject],
  )
