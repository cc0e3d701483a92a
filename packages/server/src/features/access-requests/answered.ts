import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import type { Audit } from '../../identity/audit-user.ts'
import type { Principal } from '../../kernel/principal.ts'
import { findName } from '../../model/people/names.ts'
import { closeRequest, listGranted, lockOpen } from './store.ts'

interface Granting {
  db: Tx
  principal: Principal
  now: string
  audit: Audit<'access_request.granted'>
  emit: Emit
}

/** Closes the requests of a person that a grant on this environment answers completely, and tells the person. */
export async function closeAnswered(
  { db, principal, now, audit, emit }: Granting,
  env: { orgId: string; id: string },
  userId: string,
): Promise<void> {
  const open = await lockOpen(db, env, userId, now)
  if (open.length === 0) return
  const ids = open.map(({ id }) => id)
  const closedBy = await findName(db, env.orgId, principal)
  for (const { id, labels } of await listGranted(db, env.orgId, ids)) {
    const closing = { status: 'granted', by: principal, answer: null, now } as const
    if (!(await closeRequest(db, { id: env.orgId }, id, closing))) continue
    audit('access_request.granted', id, { userId })
    const facts = { requestId: id, userId, status: 'granted', environments: labels, closedBy, answer: null }
    await emit('access_request.closed', facts)
  }
}
