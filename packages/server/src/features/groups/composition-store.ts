import type { Composition } from '@skerry/contract/groups/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import type { Env } from '../envs/scope.ts'
import type { Group } from './scope.ts'

export const listCompositions = (db: Sql, env: Env) =>
  db.rows<Static<typeof Composition>>(
    `select g.id as group_id, g.slug, g.name, c.position
       from compositions c join groups g on g.org_id = c.org_id and g.id = c.group_id
      where c.org_id = $1 and c.environment_id = $2
      order by c.position, g.slug`,
    [env.orgId, env.id],
  )

/** Lists the compositions of an environment, and locks them until this transaction ends. */
export async function lockCompositions(db: Tx, env: Env) {
  await lockEnvironment(db, env, 'no key update')
  return listCompositions(db, env)
}

export const upsertComposition = (db: Tx, env: Env, group: Group, position: number) =>
  db.rows(
    `insert into compositions (org_id, environment_id, group_id, position) values ($1, $2, $3, $4)
     on conflict (org_id, environment_id, group_id) do update set position = $4`,
    [env.orgId, env.id, group.id, position],
  )

export const deleteComposition = async (db: Tx, env: Env, group: Group): Promise<boolean> =>
  (await db.row(
    'delete from compositions where org_id = $1 and environment_id = $2 and group_id = $3 returning group_id',
    [env.orgId, env.id, group.id],
  )) !== undefined
