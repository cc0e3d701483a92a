import type { vaultProjects } from '@skerry/contract/vault/projects'
import type { In, Out } from '../../../http/route.ts'
import { pageOfConnections, revokeConnection } from '../connections/connections.ts'
import { type OnConnection, toResponse } from '../connections/scope.ts'
import type { OnProject } from './scope.ts'

export async function list({
  db,
  project,
  query,
}: In<typeof vaultProjects.connections, OnProject>): Out<typeof vaultProjects.connections> {
  return pageOfConnections(db, project, query)
}

export async function revoke(
  input: In<typeof vaultProjects.revokeConnection, OnProject & OnConnection>,
): Out<typeof vaultProjects.revokeConnection> {
  return { connection: toResponse(await revokeConnection(input, input.connection, 'org_admin')) }
}
