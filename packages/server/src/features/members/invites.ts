import { limits } from '@skerry/contract/limits'
import type { invites } from '@skerry/contract/members/endpoints'
import type { Sql } from '../../db/database.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { after } from '../../identity/sessions.ts'
import { takeAttempt } from '../../identity/throttle.ts'
import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { lockMaker } from '../../model/people/made.ts'
import { findName } from '../../model/people/names.ts'
import { getOrg, type InOrg, type Org } from '../orgs/scope.ts'
import { putInviteGifts } from './invite-gifts.ts'
import {
  deleteInvite,
  hasJoiningCode,
  hasMember,
  insertInvite,
  isMember,
  listInvites,
  renewInvite,
} from './invites-store.ts'
import type { Invite } from './scope.ts'

export async function list({ db, org, query, now }: In<typeof invites.list, InOrg>): Out<typeof invites.list> {
  const cursor = pageFrom(query, 'invitation')
  const page = pageOf(await listInvites(db, org, query.status ?? 'pending', now, cursor), cursor, byCreation)
  return { invites: page.rows, nextCursor: page.nextCursor }
}

export async function create(input: In<typeof invites.create, InOrg>): Out<typeof invites.create> {
  const { context, db, org, principal, body, now, newId, audit, emit } = input
  const email = body.email.toLowerCase()
  if (await isMember(db, org, email)) throw fail('conflict', 'body.email: is already a member')
  await lockMaker(db, org, principal)
  const invite = await insertInvite(db, org, {
    id: newId('invitation'),
    email,
    role: body.role ?? 'member',
    invitedById: principal.id,
    now,
    expiresAt: after(now, limits.inviteTtlSeconds),
    joining: body.joining,
  })
  if (!invite) throw fail('conflict', 'body.email: an invitation is already open')
  const { teamIds, environmentIds } = await putInviteGifts(input, invite.id)
  if (context.config.rateLimits) await takeInvitation(input, email)
  await emit('invite.created', await factsOf(db, org, principal, invite))
  const given = teamIds.length + environmentIds.length > 0 ? { teamIds, environmentIds } : {}
  audit('invite.created', invite.id, { email, role: invite.role, ...given })
  return { invite: { ...invite, teamIds, environmentIds } }
}

/** The mail names the person who sends it again. The invitation keeps the person who invited. */
export async function resend(input: In<typeof invites.resend, InOrg & { invite: Invite }>): Out<typeof invites.resend> {
  const { context, db, org, principal, body, now, audit, emit } = input
  const expiresAt = after(now, limits.inviteTtlSeconds)
  const invite = await renewInvite(db, org, input.invite, { now, expiresAt, joining: body.joining })
  if (!invite) throw fail('not_found', 'no such invite')
  if (context.config.rateLimits) await takeInvitation(input, invite.email)
  await emit('invite.resent', await factsOf(db, org, principal, invite))
  audit('invite.resent', invite.id, { email: invite.email, role: invite.role })
  return { invite }
}

async function factsOf(
  db: Sql,
  org: Org,
  principal: Principal,
  invite: { id: string; email: string; expiresAt: string },
) {
  const { id: inviteId, email, expiresAt } = invite
  const hasCode = await hasJoiningCode(db, org, inviteId)
  const { name: orgName } = await getOrg(db, org)
  return { inviteId, email, orgName, expiresAt, hasCode, invitedBy: await findName(db, org.id, principal) }
}

/** Counts in the database, so that the limits hold for all servers; always in one order, so that nothing deadlocks. */
async function takeInvitation(
  { db, org, origin, now }: Pick<In<typeof invites.resend, InOrg>, 'db' | 'org' | 'origin' | 'now'>,
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
