import type { Sql } from '../../db/database.ts'

/** SQL of what people call a person `u`: the name and the address, or what there is of them. */
export const personName = `case when u.name is not null and u.email is not null then u.name || ' (' || u.email || ')'
  else coalesce(u.name, u.email, u.id) end`

/**
 * Finds what people call a principal of an organization, for texts that people read.
 *
 * @example await findName(db, orgId, { type: 'user', id: 'usr_...' }) // 'Ada Lovelace (ada@example.com)'
 */
export async function findName(db: Sql, orgId: string, { type, id }: { type: string; id: string }): Promise<string> {
  const row =
    type === 'user'
      ? await db.row<{ name: string }>(`select ${personName} as name from users u where u.id = $1`, [id])
      : await db.row<{ name: string }>(
          `select 'the service token ' || name as name from service_tokens where org_id = $1 and id = $2
           union all select 'the machine client ' || name from machine_clients where org_id = $1 and id = $2`,
          [orgId, id],
        )
  return row?.name ?? id
}
