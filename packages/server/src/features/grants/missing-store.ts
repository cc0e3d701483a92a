import type { MissingGrant } from '@skerry/contract/grants/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import { environmentLabel, labelJoins } from '../../model/environments/label.ts'
import { grantEnd, grantInForce, ownGrant } from '../../model/grants/table.ts'
import { isNotExcluded } from '../../model/teams/table.ts'
import type { Org } from '../orgs/scope.ts'

/** A missing grant with the place in the list's order. */
type MissingRow = Static<typeof MissingGrant> & { environmentCreatedAt: string }

/** Lists what teams and plans ask for, without the keys that people hold. Environments that were made first come first. */
export const listMissing = (
  db: Sql,
  org: Org,
  principal: Principal,
  { teamId, userId: ofUser, now }: { teamId: string | undefined; userId: string | undefined; now: string },
  cursor: KeysetCursor,
) => {
  const [environmentId, userId] = cursor.id?.split('.') ?? [null, null]
  return db.rows<MissingRow>(
    `with due as (
       select te.environment_id, tm.user_id, te.team_id
         from team_environments te
         join team_members tm on tm.org_id = te.org_id and tm.team_id = te.team_id
        where te.org_id = $1 and ($4::text is null or te.team_id = $4) and ($5::text is null or tm.user_id = $5)
          and ${isNotExcluded}
       union all
       select p.environment_id, p.user_id, null
         from planned_grants p
        where p.org_id = $1 and $4::text is null and ($5::text is null or p.user_id = $5))
     select e.id as environment_id, ${environmentLabel} as label, 'user' as principal_type, d.user_id as principal_id,
            u.name, u.email, u.public_key_jwk,
            coalesce(jsonb_agg(d.team_id order by d.team_id) filter (where d.team_id is not null), '[]') as team_ids,
            bool_or(d.team_id is null) as planned,
            exists (select from key_grants k where k.org_id = e.org_id and k.environment_id = e.id
                       and k.principal_type = $2 and k.principal_id = $3 and ${grantEnd} is null) as held,
            (select ${grantEnd} from key_grants k where ${ownGrant('$2', '$3', '$10')}) as held_until,
            e.created_at as environment_created_at
       from due d
       join environments e on e.org_id = $1 and e.id = d.environment_id
       ${labelJoins}
       join users u on u.id = d.user_id
      where ($6::timestamptz is null or (e.created_at, e.id, d.user_id) > ($6, $7, $8))
        and not exists (select from key_grants k where k.org_id = $1 and k.environment_id = d.environment_id
                           and k.principal_type = 'user' and k.principal_id = d.user_id
                           and ${grantInForce('$10')})
      group by e.org_id, e.id, e.created_at, ${environmentLabel}, d.user_id, u.id
      order by e.created_at, e.id, d.user_id limit $9`,
    [
      org.id,
      principal.type,
      principal.id,
      teamId ?? null,
      ofUser ?? null,
      cursor.at,
      environmentId,
      userId,
      cursor.take,
      now,
    ],
  )
}
