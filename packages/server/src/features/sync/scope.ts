import type {
  SyncBinding as BindingRow,
  SyncConnection as ConnectionRow,
  SyncRun as RunRow,
} from '@skerry/contract/sync/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type InOrg, type Org, within } from '../orgs/scope.ts'

/** Includes the fields that only the server uses. No answer contains the wrapped credential. */
export type Connection = Checked<Static<typeof ConnectionRow> & { orgId: string; wrappedCredential: string }>

export type Binding = Checked<
  Static<typeof BindingRow> & {
    orgId: string
    places: string[]
    revision: number
    takenDigest: string | null
    failureStreak: number
    /** Until when the destination asked for a pause. */
    askedUntil: string | null
  }
>

/** Whether the destination asked for a pause that has not ended. */
export const isAskedToWait = ({ askedUntil }: Pick<Binding, 'askedUntil'>, now: string): boolean =>
  askedUntil !== null && askedUntil > now

export type Run = Static<typeof RunRow> & { orgId: string }

export type OnConnection = InOrg & { connection: Connection }
export type OnBinding = InOrg & { binding: Binding }

export const connectionColumns = `c.org_id, c.id, c.name, c.provider, c.config, k.public_key_jwk, c.wrapped_credential, c.status,
  c.last_error, c.created_at, c.updated_at`

/** Joins the key pair of `sync_connections c`, which exists as long as the connection. */
export const withKeypair = `join server_keypairs k on k.org_id = c.org_id and k.purpose = 'sync' and k.owner_id = c.id`

export const bindingColumns = `b.org_id, b.id, b.connection_id, b.environment_id, b.destination, b.places, b.name_transform,
  b.include, b.exclude, b.on_delete, b.mode, b.adopt, b.enabled, b.revision, b.taken_digest, b.failure_streak,
  b.last_error, b.next_try_at, b.asked_until, b.created_at, b.updated_at,
  coalesce((select json_agg(l.environment_id order by l.environment_id) from sync_layers l
             where l.org_id = b.org_id and l.binding_id = b.id and not exists (
               select from key_grants g
                where g.org_id = l.org_id and g.environment_id = l.environment_id
                  and g.principal_type = 'sync_connection' and g.principal_id = l.connection_id)), '[]')
    as missing_environment_ids,
  (select json_build_object('id', r.id, 'status', r.status, 'startedAt', ${json('r.started_at')},
                            'finishedAt', ${json('r.finished_at')})
     from sync_runs r where r.org_id = b.org_id and r.binding_id = b.id order by r.started_at desc, r.id desc limit 1)
    as last_run`

/** Formats an instant inside JSON like all other instants. */
function json(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

export const findConnection = (db: Sql, org: Pick<Org, 'id'>, connectionId: string) =>
  db.row<Connection>(
    `select ${connectionColumns} from sync_connections c ${withKeypair} where c.org_id = $1 and c.id = $2`,
    [org.id, connectionId],
  )

export const findBinding = (db: Sql, org: Pick<Org, 'id'>, bindingId: string) =>
  db.row<Binding>(`select ${bindingColumns} from sync_bindings b where b.org_id = $1 and b.id = $2`, [
    org.id,
    bindingId,
  ])

export const connection = within<'connection', 'connectionId', Connection>(
  'connection',
  'connectionId',
  'The sync connection must belong to the organization',
  findConnection,
  'sync connection',
)

export const binding = within<'binding', 'bindingId', Binding>(
  'binding',
  'bindingId',
  'The sync binding must belong to the organization',
  findBinding,
  'sync binding',
)
