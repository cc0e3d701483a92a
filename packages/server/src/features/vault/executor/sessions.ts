import type { vaultExecutor } from '@skerry/contract/vault/executor'
import type { In, Out } from '../../../http/route.ts'
import { sha256 } from '../../../kernel/context.ts'
import { fail } from '../../../kernel/errors.ts'
import { capture } from '../connect/capture.ts'
import { type CaptureSession, findSession, type Session } from '../connect/scope.ts'
import { findByClaim } from '../connect/store.ts'
import { connectView } from '../connect/view.ts'
import { sessionLifecycle } from '../lifecycles.ts'
import type { ByExecutor } from './scope.ts'

/** Tells the executor which session a browser's claim token belongs to, and whether that session can still be used. */
export async function verify(
  input: In<typeof vaultExecutor.verifySession, ByExecutor>,
): Out<typeof vaultExecutor.verifySession> {
  const { db, executor, body, now } = input
  const { orgId, projectId } = executor
  const session = checkCapture(await findByClaim(db, { orgId, id: projectId }, sha256(body.claimToken), now))
  sessionLifecycle.check(session.status, 'verify')
  return { session: await connectView(db, session) }
}

export async function complete(
  input: In<typeof vaultExecutor.complete, ByExecutor>,
): Out<typeof vaultExecutor.complete> {
  const { db, executor, params, body, now } = input
  const { orgId, projectId } = executor
  const session = checkCapture(await findSession(db, { orgId, id: projectId }, params.connectSessionId, now))
  if (session.claimedAt === null) throw fail('conflict', 'nobody has opened the link of this session')
  return capture(input, session, 'executor', body)
}

function checkCapture(session: Session | undefined): CaptureSession {
  if (!session || session.purpose === 'manage') throw fail('not_found', 'no such session')
  return session
}
