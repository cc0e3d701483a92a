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
