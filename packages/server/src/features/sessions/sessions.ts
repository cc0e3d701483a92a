import type { sessions } from '@skerry/contract/sessions/endpoints'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { endSession } from '../../identity/session-store.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { listSessions } from './store.ts'

interface Person {
  principal: UserPrincipal
}

export async function list({ db, principal, now }: In<typeof sessions.list, Person>): Out<typeof sessions.list> {
  const { kind, id } = principal.session
  return { sessions: await listSessions(db, principal.id, now), currentSessionId: kind === 'browser' ? id : null }
}

export async function end(input: In<typeof sessions.end, Person>): Out<typeof sessions.end> {
  const { db, principal, params, now } = input
  if (!(await endSession(db, params.webSessionId, principal.id, now))) throw fail('not_found', 'no such session')
  await auditUser(input, principal.id, 'session.ended', params.webSessionId, { reason: 'ended by its person' })
  return { ok: true }
}
