import type { NamedBy } from '@skerry/contract/secrets/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import type { Env } from '../envs/scope.ts'

/** Finds a rotation policy that writes one of these names, as its value or as the name of its account. */
export const findRotationOf = (db: Tx, env: Env, names: readonly string[]) =>
  db.row<{ secretName: string }>(
    `select secret_name from rotation_policies
      where org_id = $1 and environment_id = $2
        and (secret_name = any($3::text[]) or config ->> 'usernameSecret' = any($3::text[]))`,
    [env.orgId, env.id, names],
  )

/** The rows of details that a rename concerns. Lock the environment first. */
export const listDetailsOf = (db: Tx, env: Env, names: readonly string[]) =>
  db.rows<{ name: string; sealed: string | null; revision: number }>(
    'select name, sealed, revision from secret_details where org_id = $1 and environment_id = $2 and name = any($3::text[])',
    [env.orgId, env.id, names],
  )

/** The answer lists at most this many of each kind. */
const namedMax = 100

type Named = Static<typeof NamedBy>

/** SQL condition: resolving `environments e` of `agents a` reads the environment $2. */
const readsIt = `(e.id = $2 or e.parent_environment_id = $2 or exists (
  select from compositions c
    join environments base on base.org_id = c.org_id and base.id = c.environment_id
    join environments g on g.org_id = c.org_id and g.group_id = c.group_id and g.slug = base.slug
   where c.org_id = $1 and g.id = $2 and base.id = coalesce(e.parent_environment_id, e.id)))`

/** Lists what names a secret and cannot be changed with it: signed policies, patterns of sync bindings, proposals. */
export async function listNamedBy(db: Tx, env: Env, name: string): Promise<Named[]> {
  const values = [env.orgId, env.id, name, namedMax]
  const [agents, bindings, changes] = await Promise.all([
    db.rows<Named>(
      `select 'agent' as type, a.id, a.slug as name
         from agents a
         join agent_policies p on p.org_id = a.org_id and p.agent_id = a.id and p.version = a.policy_version
         join environments e on e.org_id = a.org_id and e.id = a.environment_id
        where a.org_id = $1 and p.rules @> jsonb_build_array(jsonb_build_object('allow', jsonb_build_array($3::text)))
          and ${readsIt}
        order by a.id limit $4`,
      values,
    ),
    db.rows<Named>(
      `select 'sync_binding' as type, b.id, c.name
         from sync_bindings b
         join sync_layers l on l.org_id = b.org_id and l.binding_id = b.id and l.environment_id = $2
         join sync_connections c on c.org_id = b.org_id and c.id = b.connection_id
        where b.org_id = $1 and (b.include ? $3 or b.exclude ? $3)
        order by b.id limit $4`,
      values,
    ),
    db.rows<Named>(
      `select 'change_request' as type, id, null as name from change_requests
        where org_id = $1 and environment_id = $2 and secret_name = $3 and status = 'open'
        order by id limit $4`,
      values,
    ),
  ])
  return [...agents, ...bindings, ...changes]
}
