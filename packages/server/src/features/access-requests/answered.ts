import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import type { Audit } from '../../identity/audit-user.ts'
import type { Principal } from '../../kernel/principal.ts'
import { findName } from '../../model/people/names.ts'
import { closeGranted, lockOpen } from './store.ts'

interface Granting {
  db: Tx
  principal: Principal
  now: string
  audit: Audit<'access_request.granted'>
  emit: Emit
}

/** Closes the requests that these grants to people answer completely, and tells the people who asked. */
export async function closeAnswered(
  { db, principal, now, audit, emit }: Granting,
  orgId: string,
  granted: readonly { environmentId: string; principalId: string }[],
): Promise<void> {
  if (granted.length === 0) return
  const open = await lockOpen(db, orgId, granted, now)
  if (open.length === 0) return
  const ids = open.map(({ id }) => id)
  const closedBy = await findName(db, orgId, principal)
  for (const { id, userId, labels } of await closeGranted(db, orgId, ids, principal, now)) {
    audit('access_request.granted', id, { userId })
    const facts = { requestId: id, userId, status: 'granted', environments: labels, closedBy, answer: null }
    await emit('access_request.closed', facts)
  }
}
