import type { vaultPlatform } from '@skerry/contract/vault/platform'
import type { In, Out } from '../../../http/route.ts'
import { pageOfConnections, revokeConnection } from '../connections/connections.ts'
import { type OnConnection, toResponse } from '../connections/scope.ts'
import type { ByPlatform } from './scope.ts'

type On = ByPlatform & OnConnection

export async function list({
  db,
  place,
  query,
}: In<typeof vaultPlatform.connections, ByPlatform>): Out<typeof vaultPlatform.connections> {
  return pageOfConnections(db, place, query)
}

export async function get({
  connection,
}: In<typeof vaultPlatform.connection, On>): Out<typeof vaultPlatform.connection> {
  return { connection: toResponse(connection) }
}

export async function revoke(input: In<typeof vaultPlatform.revoke, On>): Out<typeof vaultPlatform.revoke> {
  return { connection: toResponse(await revokeConnection(input, input.connection, 'platform')) }
}
