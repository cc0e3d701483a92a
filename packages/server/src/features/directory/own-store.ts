import type { Sql } from '../../db/database.ts'
import type { Principal } from '../../kernel/principal.ts'
import { grantInForce } from '../../model/grants/table.ts'

/** The keys of the entries that concern a token: its own, and those of what it reads or is bound to. */
export async function listOwnKeys(
  db: Sql,
  orgId: string,
  { type, id }: Pick<Principal, 'type' | 'id'>,
  now: string,
): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ key: string }>(
    `with own as (
       select k.environment_id as id from key_grants k
        where k.org_id = $1 and k.principal_type = $2 and k.principal_id = $3 and ${grantInForce('$4')}
       union
       select t.environment_id from service_tokens t
        where t.org_id = $1 and t.id = $3 and t.environment_id is not null
     )
     select 'token/' || t.id as key from service_tokens t where t.org_id = $1 and t.id = $3
     union
     select 'environment/' || coalesce(p.slug || '/', g.slug || ':') || b.slug
       from own
       join environments e on e.org_id = $1 and e.id = own.id
       join environments b on b.org_id = $1 and b.id = coalesce(e.parent_environment_id, e.id)
       left join applications p on p.org_id = b.org_id and p.id = b.application_id
       left join groups g on g.org_id = b.org_id and g.id = b.group_id
     union
     select 'key/' || q.name from kms_keys q
      where q.org_id = $1 and q.deleted_at is null
        and exists (select from kms_grants k where k.org_id = q.org_id and k.key_id = q.id
                       and k.principal_type = $2 and k.principal_id = $3)`,
    [orgId, type, id, now],
  )
  return new Set(rows.map(({ key }) => key))
}
