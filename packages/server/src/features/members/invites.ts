import { limits } from '@skerry/contract/limits'
import type { invites } from '@skerry/contract/members/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { takeAttempt } from '../../identity/throttle.ts'
import { fail } from '../../kernel/errors.ts'
import { findName } from '../../model/people/names.ts'
import { getOrg, type InOrg } from '../orgs/scope.ts'
import { deleteInvite, hasMember, insertInvite, isMember, listInvites } from './invites-store.ts'
import type { Invite } from './scope.ts'

export async function list({ db, org, query, now }: In<typeof invites.list, InOrg>): Out<typeof invites.list> {
  const cursor = pageFrom(query, 'invitation')
  const page = pageOf(await listInvites(db, org, now, cursor), cursor, byCreation)
  return { invites: page.rows, nextCursor: page.nextCursor }
}

export async function create(input: In<typeof invites.create, InOrg>): Out<typeof invites.create> {
  const { context, db, org, principal, body, now, newId, audit, emit } = input
  const email = body.email.toLowerCase()
  if (await isMember(db, org, email)) throw fail('conflict', 'body.email: is already a member')
  const invite = await insertInvite(db, org, {
    id: newId('invitation'),
    email,
    role: body.role ?? 'member',
    invitedById: principal.id,
    now,
    expiresAt: new Date(Date.parse(now) + limits.inviteTtlSeconds * 1000).toISOString(),
  })
  if (!invite) throw fail('conflict', 'body.email: an invitation is already open')
  if (context.config.rateLimits) await takeInvitation(input, email)
  const { name } = await getOrg(db, org)
  const invitedBy = await findName(db, org.id, principal)
  await emit('invite.created', { inviteId: invite.id, email, orgName: name, expiresAt: invite.expiresAt, invitedBy })
  audit('invite.created', invite.id, { email, role: invite.role })
  return { invite }
}

/** Counts in the database, so that the limits hold for all servers; always in one order, so that nothing deadlocks. */
async function takeInvitation(
  { db, org, origin, now }: In<typeof invites.create, InOrg>,
  email: string,
): Promise<void> {
  const caller = origin.ipAddress ?? ''
  if (!(await hasMember(db, org))) await takeAttempt(db, 'invitation_memberless', caller, now)
  await takeAttempt(db, 'invitation_address', caller, now)
  await takeAttempt(db, 'invitation_org', org.id, now)
  await takeAttempt(db, 'invitation_mailbox', email, now)
}

export async function remove(input: In<typeof invites.delete, InOrg & { invite: Invite }>): Out<typeof invites.delete> {
  const { db, org, invite, audit } = input
  const revoked = await deleteInvite(db, org, invite)
  if (!revoked) throw fail('not_found', 'no such invite')
  audit('invite.revoked', invite.id, { email: invite.email, role: invite.role })
  return { ok: true }
}
