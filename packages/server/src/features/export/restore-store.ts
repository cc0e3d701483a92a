import type { Tx } from '../../db/database.ts'
import type { Section } from './sections.ts'

export type Row = Record<string, unknown>

/** Of a section: what its columns hold, under the ids that they had. */
export const insertRows = (tx: Tx, orgId: string, { table, columns, filled }: Section, rows: readonly Row[]) =>
  tx.rows(
    `insert into ${table} (org_id, ${columns}${filled ? `, ${filled.columns}` : ''})
     select $1, ${columns}${filled ? `, ${filled.sql}` : ''} from jsonb_populate_recordset(null::${table}, $2::jsonb)`,
    [orgId, JSON.stringify(rows.map(underColumns))],
  )

/** `createdAt` to `created_at`, the names of columns alone. */
const underColumns = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )

export const insertOrganization = (tx: Tx, row: Row) =>
  tx.rows(
    `insert into organizations (id, name, slug, mfa_required, created_at, updated_at) values ($1, $2, $3, $4, $5, $6)`,
    [row.id, row.name, row.slug, row.mfaRequired, row.createdAt, row.updatedAt],
  )

export const findSame = (tx: Tx, id: string, slug: string) =>
  tx.row<{ id: string; slug: string }>('select id, slug from organizations where id = $1 or slug = $2', [id, slug])

export const listKnown = (tx: Tx, { id, issuer, subject }: Row) =>
  tx.rows<{ id: string; issuer: string; subject: string; publicKeyJwk: string | null }>(
    'select id, issuer, subject, public_key_jwk from users where id = $1 or (issuer = $2 and subject = $3)',
    [id, issuer, subject],
  )

export const insertUser = (tx: Tx, row: Row) =>
  tx.rows(
    `insert into users (id, issuer, subject, email, verified_email, name, public_key_jwk, encrypted_private_key, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      row.id,
      row.issuer,
      row.subject,
      row.email,
      row.verifiedEmail,
      row.name,
      row.publicKeyJwk,
      row.encryptedPrivateKey,
      row.createdAt,
    ],
  )

/** Of a person who is known here without keys. */
export const giveKeys = (tx: Tx, row: Row) =>
  tx.rows(
    `update users set public_key_jwk = $2, encrypted_private_key = coalesce($3, encrypted_private_key)
      where id = $1 and public_key_jwk is null`,
    [row.id, row.publicKeyJwk, row.encryptedPrivateKey],
  )
