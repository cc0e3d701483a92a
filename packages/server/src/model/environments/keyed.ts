import type { Tx } from '../../db/database.ts'
import { grantInForce } from '../grants/table.ts'
import { tokenStands } from '../tokens/table.ts'
import type { OfEnvironment } from './table.ts'

/**
 * SQL condition on a grant `k`: its holder can use it. Members need keys and tokens must be valid. Readers of the server lose
 * their grants with their keys.
 */
export const holderIsAble = (now: `$${number}`) => `case k.principal_type
  when 'user' then exists (
    select from memberships m join users u on u.id = m.user_id
     where m.org_id = k.org_id and m.user_id = k.principal_id and u.public_key_jwk is not null)
  when 'service_token' then exists (
    select from service_tokens t
     where t.org_id = k.org_id and t.id = k.principal_id and ${tokenStands(now)})
  else true
end`

/** SQL condition on `key_grants k`: the grant is in force and its holder can use it. */
export const isAble = (now: `$${number}`) => `(${grantInForce(now)} and ${holderIsAble(now)})`

/**
 * SQL of a digest of everything that a re-key of `environments e` depends on: the versions of the secrets, the descriptions,
 * the grants with whether their holders can use them, and the recovery key, to which the new key is wrapped.
 */
export const keyedState = (now: `$${number}`) => `encode(sha256(convert_to(concat(
  (select string_agg(s.id || ' ' || s.current_version, ',' order by s.id)
     from secrets s where s.org_id = e.org_id and s.environment_id = e.id), '|',
  (select string_agg(d.name || ' ' || d.revision, ',' order by d.name)
     from secret_details d where d.org_id = e.org_id and d.environment_id = e.id and d.sealed is not null), '|',
  (select string_agg(k.id || ' ' || ${isAble(now)}, ',' order by k.id)
     from key_grants k where k.org_id = e.org_id and k.environment_id = e.id), '|',
  (select v.recovery_public_key_jwk from recoveries v where v.org_id = e.org_id)), 'UTF8')), 'hex')`

/** Returns the digest. It stays the same until commit if the environment, its secrets and its grants are locked. */
export async function findKeyedState(db: Tx, env: OfEnvironment, now: string): Promise<string> {
  const row = await db.row<{ state: string }>(
    `select ${keyedState('$3')} as state from environments e where e.org_id = $1 and e.id = $2`,
    [env.orgId, env.id, now],
  )
  return row?.state ?? ''
}
