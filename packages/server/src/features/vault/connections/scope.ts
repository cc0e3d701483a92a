import type { VaultConnection as ConnectionRow } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../../db/database.ts'
import { type Checked, narrowed } from '../../../http/access.ts'
import type { Access } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'

export type Connection = Checked<Omit<Static<typeof ConnectionRow>, 'expiresAt'> & { orgId: string }>

/** The project that a request acts in. Each API surface finds it in its own way. */
export interface Place {
  orgId: string
  id: string
}

export interface OnConnection {
  connection: Connection
}

/** Columns of `vault_connections c`. They include the slots and revisions of the credentials, but no ciphertext. */
export const connectionColumns = `c.org_id, c.id, c.project_id, c.user_ref, c.provider_id, c.provider_name, c.method,
  c.account_label, c.status, c.status_reason, c.consented_at, c.consent_version, c.revoked_at, c.revoked_by, c.created_at,
  c.updated_at,
  (select u.last_used_at from vault_uses u where u.org_id = c.org_id and u.id = c.id) as last_used_at,
  (select coalesce(jsonb_agg(jsonb_build_object('slot', s.slot, 'revision', s.revision, 'updatedAt',
                     to_char(s.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by s.slot), '[]')
     from (select distinct on (v.slot) v.slot, v.revision, v.created_at from vault_credentials v
            where v.org_id = c.org_id and v.connection_id = c.id order by v.slot, v.revision desc) s) as slots`

export const findConnection = (db: Sql, { orgId, id }: Place, connectionId: string) =>
  db.row<Connection>(
    `select ${connectionColumns} from vault_connections c where c.org_id = $1 and c.project_id = $2 and c.id = $3`,
    [orgId, id, connectionId],
  )

/** Adds the connection in the path if it belongs to the project of `placeOf`. Any other connection answers 404. */
export const connectionOf =
  <S extends object>(placeOf: (scope: S) => Place) =>
  <T extends S, N extends string>(base: Access<T, N>): Access<T & OnConnection, N | 'vaultConnectionId'> =>
    narrowed(
      'connection',
      'The connection must belong to the project',
      base,
      async (scope: T, { db }, { vaultConnectionId }: Record<N | 'vaultConnectionId', string>) => {
        const connection = await findConnection(db, placeOf(scope), vaultConnectionId)
        if (!connection) throw fail('not_found', 'no such connection')
        return { ...scope, connection }
      },
    )

/** A connection never expires, so `expiresAt` is always null. Only a revocation ends it. */
export const toResponse = ({ orgId, ...connection }: Connection) => ({ ...connection, expiresAt: null })
