import type { Sql } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'

export const findOrganization = async (db: Sql, org: Org): Promise<{ id: string; slug: string }> =>
  (await db.row<{ id: string; slug: string }>('select id, slug from organizations where id = $1', [org.id])) ?? {
    id: org.id,
    slug: '',
  }
