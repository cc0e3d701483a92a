import type { OffboardingPreview } from '@skerry/contract/offboardings/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import { environmentLabel, labelJoins } from '../../model/environments/label.ts'
import { isUnprotected, notExpired } from '../../model/environments/table.ts'
import { grantInForce } from '../../model/grants/table.ts'
import { actingFor } from '../../model/people/made.ts'
import { isRestorable } from '../../model/secrets/deleted.ts'
import type { InOrg, Org } from '../orgs/scope.ts'
import { isKnownValue, knownVersion } from './state.ts'

// Facts about the person who leaves. All of them are read before the removal, which deletes their grants.

/** The last removal of a person who is no member now. The entry keeps what they could read, and their names. */
const removal = `select x.created_at, x.metadata from audit_entries x
  where x.org_id = $1 and x.action = 'member.removed' and x.resource_id = $2
    and not exists (select from memberships m where m.org_id = $1 and m.user_id = $2)
  order by x.created_at desc limit 1`

export type Person = Pick<Static<typeof OffboardingPreview>, 'userId' | 'email' | 'name' | 'role'>

/** Finds a member, or a former one under the names that the organization knew. */
export const findPerson = (db: Sql, org: Org, userId: string) =>
  db.row<Person>(
    `select u.id as user_id, u.email, u.name, m.role
       from memberships m join users u on u.id = m.user_id where m.org_id = $1 and m.user_id = $2
      union all
     select $2, l.metadata ->> 'email', l.metadata ->> 'name', null from (${removal}) l`,
    [org.id, userId],
  )

/** Waits for all running grants to the person in this organization, and blocks new ones until commit. */
export const lockPrincipal = (db: Tx, org: Org, userId: string) =>
  db.rows(`select 1 from principals where org_id = $1 and type = 'user' and id = $2 for update`, [org.id, userId])

export type Known = Static<typeof OffboardingPreview>['environments'][number]

/**
 * A query for the keys that the person, or a credential of theirs, lost: the environment, the instant, and whether it was
 * the person's own grant. The audit log is the only place that has them.
 */
const losses = `
  select x.metadata ->> 'environmentId' as environment_id, x.created_at, x.metadata ->> 'principalId' = $2 as direct
    from audit_entries x
   where x.org_id = $1 and x.action in ('key.revoked', 'key.expired')
     and (x.metadata ->> 'principalId') collate "C" in (select id from acting)
  union all
  select jsonb_array_elements_text(x.metadata -> 'environmentIds'), x.created_at, x.resource_id = $2
    from acting join audit_entries x on x.org_id = $1 and x.resource_id = acting.id
   where x.action in ('member.removed', 'user.keys_replaced', 'token.revoked')
  union all
  select jsonb_array_elements_text(x.metadata -> 'environmentIds'), x.created_at, true
    from audit_entries x
   where x.org_id = $1 and x.action in ('team.member_removed', 'team.environment_removed', 'team.deleted')
     and (x.metadata ->> 'userId' = $2 or x.metadata -> 'userIds' ? $2)`

/**
 * The first re-key of the environment `n` after the person lost its key. With an old key, the person may have read every
 * value from before the re-key, and no later one.
 */
const rekeying = `
  select min(x.created_at) as at from audit_entries x
   where x.org_id = $1 and x.action = 'env.rekeyed' and x.resource_id = n.environment_id
     and not n.granted and x.created_at > n.lost_at`

/** Counts secrets `s` of the environment `e` whose value the person may know. */
const countKnown = (more = '') =>
  `(select count(*) from secrets s ${more} where s.org_id = e.org_id and s.environment_id = e.id
      and ${isKnownValue('s', 'k.at')})`

/**
 * Lists the environments whose key the person may have: by a grant, by a grant to a token that they made, or from a grant
 * that they lost. A person who makes a token knows its key. An environment that was re-keyed since the loss is listed
 * while a value is as the person may know it, or if the removal of the person was the loss.
 */
export const listKnown = (db: Sql, { org, principal }: InOrg, userId: string, now: string) =>
  db.rows<Known & { knownUntil: string | null }>(
    `with removal as (${removal}),
     acting as (${actingFor('$1', '$2')}),
     known as (
       select k.environment_id::text, k.principal_type = 'user' as direct, true as granted, null::timestamptz as lost_at,
              false as removed
         from key_grants k
        where k.org_id = $1
          and (k.principal_type, k.principal_id) in (select type, id from acting)
       union all
       select jsonb_array_elements_text(l.metadata -> 'environmentIds'), true, false, l.created_at, true from removal l
       union all
       select lost.environment_id, lost.direct, false, lost.created_at, false from (${losses}) lost)
     select e.id as environment_id, ${environmentLabel} as label, n.via, not (${isUnprotected}) as protected,
            exists (select from key_grants k where k.org_id = e.org_id and k.environment_id = e.id
                       and k.principal_type = $4 and k.principal_id = $5 and ${grantInForce('$3')}) as held,
            k.at is not null as rekeyed, k.at as known_until, ${countKnown()} as secrets,
            ${countKnown(`join rotation_policies p
                 on p.org_id = s.org_id and p.environment_id = s.environment_id and p.secret_name = s.name`)} as rotated,
            (select count(*) from deleted_secrets d where d.org_id = e.org_id and d.environment_id = e.id
                and ${isRestorable('$3')}) as deleted
       from (select environment_id, case when bool_or(direct) then 'grant' else 'token' end as via,
                    bool_or(granted) as granted, max(lost_at) as lost_at, bool_or(removed) as removed
                from known group by environment_id) n
       join environments e on e.org_id = $1 and e.id = n.environment_id
       cross join lateral (${rekeying}) k
       ${labelJoins}
      where ${notExpired('$3')} and (k.at is null or n.removed or ${countKnown()} > 0)
      order by label`,
    [org.id, userId, now, principal.type, principal.id],
  )

/** Lists the secrets whose value the person may know, with the version that they know. */
export const listSecrets = (
  db: Sql,
  org: Org,
  environments: readonly { environmentId: string; knownUntil: string | null }[],
) =>
  db.rows<{ id: string; environmentId: string; name: string; baseVersion: number }>(
    `select s.id, s.environment_id, s.name, ${knownVersion('s', 'k.at')} as base_version
       from unnest($2::text[], $3::timestamptz[]) as k (environment_id, at)
       join secrets s on s.org_id = $1 and s.environment_id = k.environment_id
      where ${isKnownValue('s', 'k.at')}
      order by s.environment_id, s.name`,
    [org.id, environments.map(({ environmentId }) => environmentId), environments.map(({ knownUntil }) => knownUntil)],
  )

/** Finds the sharing of the recovery key in which the person has, or had, a share. */
export const findShare = (db: Sql, org: Org, userId: string) =>
  db.row<{ sharedAt: string; threshold: number; sharesLeft: number }>(
    `select coalesce(v.rotated_at, v.created_at) as shared_at, v.threshold,
            (select count(*) from recovery_custodians c where c.org_id = v.org_id and c.user_id <> $2) as shares_left
       from recoveries v
      where v.org_id = $1
        and (exists (select from recovery_custodians c where c.org_id = v.org_id and c.user_id = $2)
             or exists (select from audit_entries x
                         where x.org_id = v.org_id and x.resource_id = v.org_id and x.action = 'recovery.custodian_removed'
                           and x.metadata ->> 'userId' = $2 and x.created_at >= coalesce(v.rotated_at, v.created_at)))`,
    [org.id, userId],
  )

/** Returns true if the person, or a credential that they made, made this service token or machine client. */
export const isMadeBy = async (
  db: Sql,
  org: Org,
  made: { type: string; id: string },
  userId: string,
): Promise<boolean> =>
  (await db.row(`select 1 from (${actingFor('$1', '$2')}) o where o.type = $3 and o.id = $4`, [
    org.id,
    userId,
    made.type,
    made.id,
  ])) !== undefined
