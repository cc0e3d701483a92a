import type { me } from '@skerry/contract/me/endpoints'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { environmentLabel, labelJoins } from '../../model/environments/label.ts'
import { notExpired } from '../../model/environments/table.ts'
import { grantInForce } from '../../model/grants/table.ts'
import { tokenInForce } from '../../model/tokens/table.ts'

type Holding = Static<(typeof me.keyHoldings.responses)[200]>['holdings'][number]

/** Selects the admins with `key_grants o` on the same environment, who could grant its key to somebody. */
const grantableBy = (now: `$${number}`) => `
  select jsonb_build_object('principalType', o.principal_type, 'principalId', o.principal_id,
                            'name', coalesce(u.email, u.name, t.name)) as holder, o.created_at, o.id
    from key_grants o
    left join memberships m on o.principal_type = 'user' and m.org_id = o.org_id and m.user_id = o.principal_id
    left join users u on u.id = m.user_id
    left join service_tokens t on o.principal_type = 'service_token' and t.org_id = o.org_id and t.id = o.principal_id
   where o.org_id = k.org_id and o.environment_id = k.environment_id and o.id <> k.id and ${grantInForce(now, 'o')}
     and (m.role in ('owner', 'admin') or (t.role = 'admin' and ${tokenInForce(now)}))`

export const listHoldings = (db: Sql, userId: string, now: string) =>
  db.rows<Holding>(
    `select k.org_id, org.slug as org_slug, k.environment_id, ${environmentLabel} as label,
            coalesce((select jsonb_agg(h.holder order by h.created_at, h.id) from (${grantableBy('$2')}) h), '[]'::jsonb)
              as grantable_by
       from key_grants k
       join memberships own on own.org_id = k.org_id and own.user_id = k.principal_id
       join organizations org on org.id = k.org_id
       join environments e on e.org_id = k.org_id and e.id = k.environment_id
       ${labelJoins}
      where k.principal_type = 'user' and k.principal_id = $1
        and ${notExpired('$2')} and ${grantInForce('$2')}
      order by org_slug, label`,
    [userId, now],
  )
