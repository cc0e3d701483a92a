import { limits } from '@skerry/contract/limits'
import { credentialPrefixes } from '@skerry/contract/prefixes'
import type { vaultConnect } from '@skerry/contract/vault/connect'
import type { In, Out } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../kernel/context.ts'
import { endUserDigest } from '../../../kernel/end-user.ts'
import { fail } from '../../../kernel/errors.ts'
import { revokeConnection } from '../connections/connections.ts'
import { findConnection } from '../connections/scope.ts'
import { projectLifecycle, sessionLifecycle } from '../lifecycles.ts'
import { lockProject } from '../projects/store.ts'
import { capture, offered } from './capture.ts'
import { type CaptureSession, type Claimed, lockSession, type ManageSession } from './scope.ts'
import { cancelSession, claimSession, consentTo, lockByToken } from './store.ts'
import { connectView, manageView, viewOf } from './view.ts'

/** The first browser that opens a link claims it. Every later browser gets 409 with "this link was already opened". */
export async function claim(input: In<typeof vaultConnect.claim>): Out<typeof vaultConnect.claim> {
  const { db, body, now, audit } = input
  const session = await lockByToken(db, sha256(body.token), now)
  if (!session) throw fail('not_found', 'no such link')
  const { orgId, projectId, purpose, userRef } = session
  if (session.claimedAt !== null) throw fail('conflict', 'this link was already opened')
  sessionLifecycle.check(session.status, 'claim')
  const project = await lockProject(db, { orgId, id: projectId })
  // A person can revoke connections even after the project was disabled.
  if (purpose !== 'manage') projectLifecycle.check(project.status, 'use')
  const claimToken = credentialPrefixes.vaultClaim + newSecret()
  const until = new Date(Date.parse(now) + limits.vaultClaimTtlSeconds * 1000).toISOString()
  const claimed = await claimSession(db, session, { claimHash: sha256(claimToken), until, now })
  const by = { orgId, actor: { type: 'vault_end_user', id: endUserDigest(projectId, userRef) } }
  audit('vault.connect_session.claimed', session.id, { projectId, purpose }, by)
  return { claimToken, session: await viewOf(db, claimed) }
}

export async function get({
  db,
  session,
}: In<typeof vaultConnect.session, Claimed<CaptureSession>>): Out<typeof vaultConnect.session> {
  return { session: await connectView(db, session) }
}

export async function consent(
  input: In<typeof vaultConnect.consent, Claimed<CaptureSession>>,
): Out<typeof vaultConnect.consent> {
  const { db, body, now, audit } = input
  const session = (await lockSession(db, input.session, now)) as CaptureSession
  sessionLifecycle.check(session.status, 'consent')
  const { provider } = await offered(db, session)
  const { consentVersion } = body
  if (consentVersion !== provider.consentVersion)
    throw fail('conflict', `body.consentVersion: the text is of version ${provider.consentVersion} now`)
  const agreed = (await consentTo(db, session, consentVersion, now)) as CaptureSession
  const { orgId, projectId } = session
  audit(
    'vault.connect_session.consented',
    session.id,
    { projectId, providerId: provider.id, consentVersion },
    { orgId },
  )
  return { session: await connectView(db, agreed) }
}

export async function submit(
  input: In<typeof vaultConnect.submit, Claimed<CaptureSession>>,
): Out<typeof vaultConnect.submit> {
  return capture(input, input.session, 'browser', input.body)
}

export async function cancel(
  input: In<typeof vaultConnect.cancel, Claimed<CaptureSession>>,
): Out<typeof vaultConnect.cancel> {
  const { db, now, audit } = input
  const session = (await lockSession(db, input.session, now)) as CaptureSession
  sessionLifecycle.check(session.status, 'cancel')
  await cancelSession(db, session)
  const { orgId, projectId, provider } = session
  audit('vault.connect_session.cancelled', session.id, { projectId, providerId: provider.id }, { orgId })
  return { session: await connectView(db, { ...session, status: 'cancelled' }) }
}

export async function manage({
  db,
  session,
}: In<typeof vaultConnect.manage, Claimed<ManageSession>>): Out<typeof vaultConnect.manage> {
  return { session: await manageView(db, session) }
}

export async function revoke(
  input: In<typeof vaultConnect.revoke, Claimed<ManageSession>>,
): Out<typeof vaultConnect.revoke> {
  const { db, session, body } = input
  const { orgId, projectId, userRef } = session
  const connection = await findConnection(db, { orgId, id: projectId }, body.connectionId)
  if (connection?.userRef !== userRef) throw fail('not_found', 'body.connectionId: no such connection')
  await revokeConnection(input, connection, 'end_user')
  return { session: await manageView(db, session) }
}
