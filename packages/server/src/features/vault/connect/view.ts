import type { VaultConnectView, VaultManageView } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../../db/database.ts'
import { toResponse } from '../connections/scope.ts'
import { listConnections } from '../connections/store.ts'
import { findActive } from '../executor/scope.ts'
import { findProject, type Project } from '../projects/scope.ts'
import type { CaptureSession, ManageSession, Session } from './scope.ts'
import { listRevisions, listWrappingKeys } from './store.ts'

type ConnectView = Static<typeof VaultConnectView>
type ManageView = Static<typeof VaultManageView>

const projectOf = async (db: Sql, { orgId, projectId }: Session) =>
  (await findProject(db, { id: orgId }, projectId)) as Project

/** The view shows the provider's current text from the catalog, because the person consents to that text. */
export async function connectView(db: Sql, session: CaptureSession): Promise<ConnectView> {
  const { orgId, projectId, connectionId } = session
  const { display } = await projectOf(db, session)
  const executor = await findActive(db, { orgId, id: projectId })
  const offered = executor?.catalog.providers.find(({ id }) => id === session.provider.id)
  const provider = offered ?? session.provider
  const next = await nextRevisions(db, orgId, connectionId)
  return {
    id: session.id,
    projectId,
    connectionId,
    purpose: session.purpose,
    status: session.status,
    display,
    provider,
    method: provider.method,
    slots: provider.slots.map((slot) => ({ slot, revision: next(slot) })),
    keys: executor ? await listWrappingKeys(db, executor) : [],
    consentedAt: session.consentedAt,
    executorOrigin: executor?.origin ?? null,
    returnUrl: session.returnUrl,
    expiresAt: session.expiresAt,
  }
}

/** Returns the revision number that the next capture of each slot gets. */
export async function nextRevisions(db: Sql, orgId: string, connectionId: string): Promise<(slot: string) => number> {
  const revisions = new Map(
    (await listRevisions(db, orgId, connectionId)).map(({ slot, revision }) => [slot, revision]),
  )
  return (slot) => (revisions.get(slot) ?? 0) + 1
}

const all = { at: null, id: null, take: null }

export async function manageView(db: Sql, session: ManageSession): Promise<ManageView> {
  const { id, orgId, projectId, purpose, status, userRef, returnUrl, expiresAt } = session
  const { display } = await projectOf(db, session)
  const connections = await listConnections(db, { orgId, id: projectId }, { userRef }, all)
  return { id, projectId, purpose, status, display, connections: connections.map(toResponse), returnUrl, expiresAt }
}

export const viewOf = (db: Sql, session: Session): Promise<ConnectView | ManageView> =>
  session.purpose === 'manage' ? manageView(db, session) : connectView(db, session)
