import type { cliSessions } from '@skerry/contract/me/cli-sessions'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { revokeCliSession } from '../../model/people/cli-sessions.ts'
import { findSession, listSessions } from './cli-session-store.ts'

interface Person {
  principal: UserPrincipal
}

export async function list({
  db,
  principal,
  query,
}: In<typeof cliSessions.list, Person>): Out<typeof cliSessions.list> {
  const { kind, id } = principal.session
  const cursor = pageFrom(query, 'cliSession')
  const page = pageOf(await listSessions(db, principal.id, cursor), cursor, byCreation)
  return { sessions: page.rows, currentSessionId: kind === 'cli' ? id : null, nextCursor: page.nextCursor }
}

export async function revoke(input: In<typeof cliSessions.revoke, Person>): Out<typeof cliSessions.revoke> {
  const { db, principal, params, now } = input
  const session = await findSession(db, principal.id, params.cliSessionId)
  if (!session) throw fail('not_found', 'no such session')
  const revoked = await revokeCliSession(db, session.id, now)
  if (revoked)
    await auditUser(input, principal.id, 'cli_session.revoked', session.id, { deviceLabel: session.deviceLabel })
  return { ok: true }
}
