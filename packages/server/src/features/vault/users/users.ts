import type { vaultPlatform } from '@skerry/contract/vault/platform'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import type { In, Out, Work } from '../../../http/route.ts'
import { endUserDigest } from '../../../kernel/end-user.ts'
import type { Place } from '../connections/scope.ts'
import type { ByPlatform } from '../platform/scope.ts'
import type { OnProject } from '../projects/scope.ts'
import { deleteConnections, deleteDeliveries, deleteSessions, lockConnections } from './store.ts'

type Erasing = Pick<Work<'vault.user.erased'>, 'db' | 'audit'>

/**
 * Deletes everything of one person. No webhook is sent, because its body would name the person. Erasing again succeeds:
 * the audit log has an entry for each request.
 */
async function erase({ db, audit }: Erasing, place: Place, userRef: string) {
  const { orgId, id: projectId } = place
  const sessions = await deleteSessions(db, { ...place, userRef })
  const connections = await lockConnections(db, { ...place, userRef })
  const deliveries = await deleteDeliveries(db, orgId, connections)
  await deleteConnections(db, orgId, connections)
  const erased = { connections: connections.length, sessions: sessions.length, deliveries: deliveries.length }
  const userDigest = endUserDigest(projectId, userRef)
  audit('vault.user.erased', userDigest, { projectId, ...erased }, { orgId })
  return { userDigest, erased }
}

export async function eraseByPlatform(
  input: In<typeof vaultPlatform.eraseUser, ByPlatform>,
): Out<typeof vaultPlatform.eraseUser> {
  return erase(input, input.place, input.params.userRef)
}

export async function eraseByAdmin(
  input: In<typeof vaultProjects.eraseUser, OnProject>,
): Out<typeof vaultProjects.eraseUser> {
  return erase(input, input.project, input.params.userRef)
}
