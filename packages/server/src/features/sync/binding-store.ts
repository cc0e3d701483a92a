import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { grantEnd, grantInForce } from '../../model/grants/table.ts'
import type { Org } from '../orgs/scope.ts'
import { type Binding, bindingColumns } from './scope.ts'

export const listBindings = (db: Sql, org: Org, { at, id, take }: KeysetCursor) =>
  db.rows<Binding>(
    `select ${bindingColumns} from sync_bindings b
      where b.org_id = $1 and ($2::timestamptz is null or (b.created_at, b.id) > ($2, $3))
      order by b.created_at, b.id limit $4`,
    [org.id, at, id, take],
  )

/** Locks the organization, so that bindings are created and changed one at a time and no conflict goes unnoticed. */
export const lockBindings = (db: Tx, org: Pick<Org, 'id'>) =>
  db.row('select 1 from organizations where id = $1 for no key update', [org.id])

export type Settings = Pick<
  Binding,
  'destination' | 'places' | 'nameTransform' | 'include' | 'exclude' | 'onDelete' | 'mode' | 'adopt' | 'enabled'
>

const settingsOf = (one: Settings) => [
  JSON.stringify(one.destination),
  one.places,
  JSON.stringify(one.nameTransform),
  JSON.stringify(one.include),
  JSON.stringify(one.exclude),
  one.onDelete,
  one.mode,
  one.adopt,
  one.enabled,
]

export const insertBinding = (
  db: Tx,
  org: Org,
  one: Settings & { id: string; connectionId: string; environmentId: string; now: string },
) =>
  db.rows(
    `insert into sync_bindings (org_id, id, connection_id, environment_id, destination, places, name_transform, include,
                                exclude, on_delete, mode, adopt, enabled, revision, failure_streak, created_at, updated_at)
     values ($1, $2, $3, $4, $6, $7::text[], $8, $9, $10, $11, $12, $13, $14, 1, 0, $5, $5)`,
    [org.id, one.id, one.connectionId, one.environmentId, one.now, ...settingsOf(one)],
  )

/**
 * Forgets what was pushed and what failed under the old settings, so that the next run starts afresh. A pause that the
 * destination asked for ends only if the destination changes.
 */
export const updateBinding = (db: Tx, { orgId, id }: Binding, one: Settings & { now: string }) =>
  db.rows(
    `update sync_bindings
        set destination = $4, places = $5::text[], name_transform = $6, include = $7, exclude = $8, on_delete = $9,
            mode = $10, adopt = $11, enabled = $12, revision = revision + 1, taken_digest = null, failure_streak = 0,
            next_try_at = null, asked_until = case when destination = $4::jsonb then asked_until end,
            last_error = null, told = null, updated_at = $3
      where org_id = $1 and id = $2`,
    [orgId, id, one.now, ...settingsOf(one)],
  )

/** Makes a binding due at the end of the pause that its destination asked for. */
export const makeDueAfterPause = (db: Tx, { orgId, id }: Pick<Binding, 'orgId' | 'id'>) =>
  db.rows('update sync_bindings set next_try_at = asked_until where org_id = $1 and id = $2', [orgId, id])

/** Stores the places where a binding writes, as its destination reports them. The settings do not change. */
export const updatePlaces = (db: Tx, { orgId, id, places }: Pick<Binding, 'orgId' | 'id' | 'places'>) =>
  db.rows('update sync_bindings set places = $3::text[] where org_id = $1 and id = $2', [orgId, id, places])

export const deleteBinding = async (db: Tx, { orgId, id }: Binding): Promise<boolean> =>
  (await db.row('delete from sync_bindings where org_id = $1 and id = $2 returning id', [orgId, id])) !== undefined

export const listBindingIds = async (db: Sql, orgId: string, connectionId: string): Promise<string[]> =>
  (
    await db.rows<{ id: string }>('select id from sync_bindings where org_id = $1 and connection_id = $2', [
      orgId,
      connectionId,
    ])
  ).map(({ id }) => id)

/**
 * Makes failed bindings due now, because the connection has a new credential. A pause that the destination asked for was
 * about the old one, so it ends. If the new one fails too, admins are mailed again.
 */
export const makeDue = (db: Tx, orgId: string, connectionId: string, now: string) =>
  db.rows(
    `update sync_bindings
        set next_try_at = case when next_try_at is not null then $3::timestamptz end, asked_until = null,
            told = nullif(told, 'credential')
      where org_id = $1 and connection_id = $2`,
    [orgId, connectionId, now],
  )

/** Lists other bindings that write into one of these places. */
export const listNeighbours = (db: Sql, orgId: string, binding: { id: string; places: readonly string[] }) =>
  db.rows<Binding>(
    `select ${bindingColumns} from sync_bindings b where b.org_id = $1 and b.id <> $2 and b.places && $3::text[]
      order by b.created_at, b.id`,
    [orgId, binding.id, binding.places],
  )

/** Lists the names of secrets in every layer of a binding. Names are not encrypted, so no key is needed. */
export const listSecretNames = async (db: Sql, orgId: string, bindingId: string): Promise<string[]> =>
  (
    await db.rows<{ name: string }>(
      `select distinct s.name from sync_layers l
         join secrets s on s.org_id = l.org_id and s.environment_id = l.environment_id
        where l.org_id = $1 and l.binding_id = $2 order by s.name`,
      [orgId, bindingId],
    )
  ).map(({ name }) => name)

export interface LayerAccess {
  environmentId: string
  slug: string
  /** Whether the caller has the key of this environment. */
  isHeld: boolean
  /** When the caller's access to this environment ends by itself; null if it does not. */
  ownEnd: string | null
  /** Any secret of the environment, to test a key with. */
  name: string | null
  ciphertext: string | null
}

export const listLayerAccess = (
  db: Sql,
  { orgId, id }: { orgId: string; id: string },
  caller: { type: string; id: string },
  now: string,
) =>
  db.rows<LayerAccess>(
    `select l.environment_id, e.slug, s.name, s.ciphertext,
            k.id is not null as is_held, ${grantEnd} as own_end
       from sync_layers l
       join environments e on e.org_id = l.org_id and e.id = l.environment_id
       left join key_grants k on k.org_id = l.org_id and k.environment_id = l.environment_id
                             and k.principal_type = $3 and k.principal_id = $4 and ${grantInForce('$5')}
       left join lateral (
         select s.name, s.ciphertext from secrets s
          where s.org_id = l.org_id and s.environment_id = l.environment_id order by s.name limit 1
       ) s on true
      where l.org_id = $1 and l.binding_id = $2 order by l.environment_id`,
    [orgId, id, caller.type, caller.id, now],
  )
