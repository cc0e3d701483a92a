import type { Tx } from '../../db/database.ts'
import type { StoredOrg } from './table.ts'

// All statements that change `organizations`.

/** Returns undefined if the slug is in use. */
export const insertOrganization = (db: Tx, org: { id: string; name: string; slug: string; now: string }) =>
  db.row<StoredOrg>(
    `insert into organizations (id, name, slug, created_at, updated_at) values ($1, $2, $3, $4, $4)
     on conflict (slug) do nothing
     returning id, name, slug, created_at, updated_at`,
    [org.id, org.name, org.slug, org.now],
  )

/** Inserts an organization from an archive, with its former id. */
export const restoreOrganization = (db: Tx, row: Record<string, unknown>) =>
  db.rows(
    `insert into organizations (id, name, slug, mfa_required, created_at, updated_at) values ($1, $2, $3, $4, $5, $6)`,
    [row.id, row.name, row.slug, row.mfaRequired, row.createdAt, row.updatedAt],
  )

export const renameOrganization = (db: Tx, org: { id: string }, name: string, now: string) =>
  db.rows('update organizations set name = $2, updated_at = $3 where id = $1', [org.id, name, now])

/** Returns false if the setting already had this value. */
export const updateMfaRequired = async (
  db: Tx,
  org: { id: string },
  required: boolean,
  now: string,
): Promise<boolean> =>
  (await db.row(
    'update organizations set mfa_required = $2, updated_at = $3 where id = $1 and mfa_required <> $2 returning id',
    [org.id, required, now],
  )) !== undefined
