import type { Tx } from '../../db/database.ts'
import type { Principal } from '../../kernel/principal.ts'
import { grantEnd, grantInForce } from '../../model/grants/table.ts'
import { isDueToTeam } from '../../model/teams/table.ts'
import { tokenStands } from '../../model/tokens/table.ts'
import type { Org } from '../orgs/scope.ts'

/**
 * Returns the keys of the environments, wrapped to the caller. They stay so until commit. A key that the caller has for
 * some time only is left out: nobody gets longer access from it.
 */
export const lockOwn = async (db: Tx, org: Org, principal: Principal, ids: string[]): Promise<Map<string, string>> => {
  const rows = await db.rows<{ environmentId: string; wrappedDek: string }>(
    `select k.environment_id, k.wrapped_dek from key_grants k
      where k.org_id = $1 and k.environment_id = any($2::text[]) and k.principal_type = $3 and k.principal_id = $4
        and ${grantEnd} is null
      order by k.environment_id for share of k`,
    [org.id, ids, principal.type, principal.id],
  )
  return new Map(rows.map(({ environmentId, wrappedDek }) => [environmentId, wrappedDek]))
}

/** A person or token that can use a key. The bound environment and its parent are those of a bound token. */
export interface Grantee {
  id: string
  publicKeyJwk: string
  environmentId: string | null
  parentEnvironmentId: string | null
}

/** Returns those of the people who are members with keys. Neither changes before commit. */
export const lockPeople = async (db: Tx, org: Org, ids: string[]): Promise<Map<string, Grantee>> => {
  const rows = await db.rows<Grantee>(
    `select u.id, u.public_key_jwk, null as environment_id, null as parent_environment_id
       from memberships m join users u on u.id = m.user_id
      where m.org_id = $1 and m.user_id = any($2::text[]) and u.public_key_jwk is not null
      order by u.id for key share of m for share of u`,
    [org.id, ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns those of the tokens that are valid. None of them is revoked before commit. */
export const lockTokens = async (db: Tx, org: Org, ids: string[], now: string): Promise<Map<string, Grantee>> => {
  const rows = await db.rows<Grantee>(
    `select t.id, t.public_key_jwk, t.environment_id, e.parent_environment_id
       from service_tokens t
       left join environments e on e.org_id = t.org_id and e.id = t.environment_id
      where t.org_id = $1 and t.id = any($2::text[]) and ${tokenStands('$3')}
      order by t.id for share of t`,
    [org.id, ids, now],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Lists the grants that a team or a plan asks for, by environment and person. */
export const listAskedFor = async (
  db: Tx,
  org: Org,
  pairs: readonly { environmentId: string; principalId: string }[],
): Promise<Set<string>> => {
  const rows = await db.rows<{ environmentId: string; userId: string }>(
    `select given.environment_id, given.user_id
       from unnest($2::text[], $3::text[]) as given(environment_id, user_id)
      where ${isDueToTeam('$1', 'given.environment_id', 'given.user_id')}
         or exists (select from planned_grants p
                     where p.org_id = $1 and p.environment_id = given.environment_id and p.user_id = given.user_id)`,
    [org.id, pairs.map(({ environmentId }) => environmentId), pairs.map(({ principalId }) => principalId)],
  )
  return new Set(rows.map(({ environmentId, userId }) => `${environmentId} ${userId}`))
}

/** Lists the grants that the holders have now, by environment and holder. */
export const listHeld = async (
  db: Tx,
  org: Org,
  keys: readonly { environmentId: string; principalType: string; principalId: string }[],
  now: string,
): Promise<Map<string, string>> => {
  const rows = await db.rows<{ id: string; environmentId: string; principalId: string }>(
    `select k.id, k.environment_id, k.principal_id
       from key_grants k
       join unnest($2::text[], $3::text[], $4::text[]) as given(environment_id, type, id)
         on k.environment_id = given.environment_id and k.principal_type = given.type and k.principal_id = given.id
      where k.org_id = $1 and ${grantInForce('$5')}`,
    [
      org.id,
      keys.map(({ environmentId }) => environmentId),
      keys.map(({ principalType }) => principalType),
      keys.map(({ principalId }) => principalId),
      now,
    ],
  )
  return new Map(rows.map(({ id, environmentId, principalId }) => [`${environmentId} ${principalId}`, id]))
}
