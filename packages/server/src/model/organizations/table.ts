import type { Tx } from '../../db/database.ts'

// The table `organizations`. Only write.ts changes its rows.

export interface StoredOrg {
  id: string
  name: string
  slug: string
  createdAt: string
  updatedAt: string
}

/**
 * Locks the organization until commit. Changes of its members, of its teams, and grants that depend on a team wait here for
 * each other, so that each sees the result of the one before.
 */
export const lockOrg = (db: Tx, org: { id: string }) =>
  db.rows('select 1 from organizations where id = $1 for no key update', [org.id])
