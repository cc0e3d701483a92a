import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import { lockMember } from './memberships.ts'

/**
 * SQL of a query for everything that can act for a person, as `type` and `id`: the person, and the service tokens and
 * machine clients that the person made, also through another one of them. The maker of a credential knows it.
 */
export const actingFor = (orgId: string, userId: string) => `
  with recursive acting (type, id) as (
    select 'user' collate "C", ${userId}::text collate "C"
     union
    select c.type collate "C", c.id collate "C"
      from acting
      join (select 'service_token' as type, id::text, org_id, created_by_type, created_by_id from service_tokens
             union all select 'm2m', id::text, org_id, created_by_type, created_by_id from machine_clients) c
        on c.org_id = ${orgId} and c.created_by_type = acting.type and c.created_by_id = acting.id)
  select type, id from acting`

/**
 * Locks the caller who makes a credential, until commit. An offboarding of the person behind it waits, and then finds the
 * new credential. Refuses a caller who was removed or revoked meanwhile.
 */
export async function lockMaker(db: Tx, org: { id: string }, maker: { type: string; id: string }): Promise<void> {
  if (maker.type === 'user') {
    if (!(await lockMember(db, org, maker.id, 'key share'))) throw fail('not_found', 'no such org')
    return
  }
  const table = maker.type === 'm2m' ? 'machine_clients' : 'service_tokens'
  const standing = await db.row(
    `select 1 from ${table} where org_id = $1 and id = $2 and revoked_at is null for share`,
    [org.id, maker.id],
  )
  if (!standing) throw fail('unauthorized', 'the credential of this request was revoked meanwhile')
}
