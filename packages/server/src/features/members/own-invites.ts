import type { ownInvites } from '@skerry/contract/members/own-invites'
import type { Tx } from '../../db/database.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import type { Audit } from '../../identity/audit-user.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { acceptMembership } from '../../model/people/memberships.ts'
import { getOrg, type Org } from '../orgs/scope.ts'
import { acceptGifts } from './invite-gifts.ts'
import { deleteOwnInvite, listOwnInvites, takeOwnInvite } from './own-invites-store.ts'
import { hasOwner } from './store.ts'

interface Person {
  principal: UserPrincipal
}

export async function list({
  db,
  principal,
  query,
  now,
}: In<typeof ownInvites.list, Person>): Out<typeof ownInvites.list> {
  const cursor = pageFrom(query, 'invitation')
  const page = pageOf(await listOwnInvites(db, principal.id, now, cursor), cursor, byCreation)
  return { invites: page.rows, nextCursor: page.nextCursor }
}

export async function accept(input: In<typeof ownInvites.accept, Person>): Out<typeof ownInvites.accept> {
  const { db, principal, params, body } = input
  const joined = await acceptInvite(input, principal.id, params.inviteId, body.joiningAnswer)
  if (!joined) throw fail('not_found', 'no such invite')
  return { org: { ...(await getOrg(db, joined.org)), role: joined.role } }
}

export async function decline(input: In<typeof ownInvites.decline, Person>): Out<typeof ownInvites.decline> {
  const { db, principal, params, now, audit } = input
  const invite = await deleteOwnInvite(db, principal.id, params.inviteId, now)
  if (!invite) throw fail('not_found', 'no such invite')
  audit('invite.declined', invite.id, { role: invite.role }, { orgId: invite.orgId })
  return { ok: true }
}

/**
 * Returns undefined if the person’s verified address has no invitation with this id. An organization that a program
 * signed up has no owner. Its first admin in person becomes the owner, because somebody must be able to make another
 * one.
 */
export async function acceptInvite(
  { db, now, audit }: { db: Tx; now: string; audit: Audit<'member.joined'> },
  userId: string,
  inviteId: string,
  joiningAnswer?: string,
) {
  const invite = await takeOwnInvite(db, { userId, inviteId, joiningAnswer }, now)
  if (!invite) return undefined
  const org = { id: invite.orgId } as Org
  await lockOrg(db, org)
  const offered = invite.role === 'admin' && !(await hasOwner(db, org)) ? 'owner' : invite.role
  const role = await acceptMembership(db, org, userId, offered, now)
  const given = await acceptGifts(db, org, { inviteId, userId }, now)
  audit('member.joined', userId, { inviteId, role, ...given }, { orgId: org.id, actor: { type: 'user', id: userId } })
  return { org, role }
}
