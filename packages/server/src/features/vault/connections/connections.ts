import { limits } from '@skerry/contract/limits'
import type { ConnectionsQuery } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../../db/database.ts'
import { byCreation, pageFrom, pageOf } from '../../../http/page.ts'
import type { Work } from '../../../http/route.ts'
import { connectionLifecycle } from '../lifecycles.ts'
import { type Connection, type Place, toResponse } from './scope.ts'
import { endConnection, listConnections, lockConnection, type Revoker, reread } from './store.ts'

export async function pageOfConnections(db: Sql, place: Place, query: Static<typeof ConnectionsQuery>) {
  const cursor = pageFrom(query, 'vaultConnection', limits.vaultConnectionsDefault)
  const page = pageOf(await listConnections(db, place, query, cursor), cursor, byCreation)
  return { connections: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

/** The part of a handler's input that a revocation needs. */
type Revoking = Pick<Work<'vault.connection.revoked'>, 'db' | 'audit' | 'emit'> & { now: string }

/** Revokes a connection for any of the four parties. Revoking it again succeeds and changes nothing. */
export async function revokeConnection(
  { db, audit, emit, now }: Revoking,
  { orgId, id }: Pick<Connection, 'orgId' | 'id'>,
  by: Revoker,
): Promise<Connection> {
  const before = await lockConnection(db, { orgId, id })
  if (connectionLifecycle.next(before.status, 'revoke') === undefined) return before
  await endConnection(db, before, { by, now })
  const connection = await reread(db, before)
  const { projectId, providerId } = connection
  audit('vault.connection.revoked', id, { projectId, providerId, by }, { orgId })
  await emit('vault.connection.revoked', { projectId, connection: toResponse(connection) }, orgId)
  return connection
}
