import { invites, members as membership, mfaPolicy, orgs } from '@skerry/contract/orgs'
import { ownInvites } from '@skerry/contract/own-invites'
import { person, signedIn } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { quota } from '../billing/scope.ts'
import * as invitations from './invites.ts'
import { remove, update as updateMember } from './members.ts'
import * as mfa from './mfa-policy.ts'
import { create, get, list, members, update } from './orgs.ts'
import * as own from './own-invites.ts'
import { admin, invite, member, unbound } from './scope.ts'

export const routes = [
  route(orgs.list, signedIn, list),
  route(orgs.create, person, create),
  route(orgs.get, member, get),
  route(orgs.update, unbound(admin), update),
  route(orgs.members, member, members),
  route(membership.update, unbound(admin), updateMember),
  // Anyone may leave; who may remove others, the handler decides.
  route(membership.remove, unbound(member), remove),
  route(mfaPolicy.get, unbound(admin), mfa.get),
  route(mfaPolicy.update, unbound(admin), mfa.update),
  route(invites.list, unbound(admin), invitations.list),
  route(invites.create, quota('members', unbound(admin)), invitations.create),
  route(invites.delete, invite(unbound(admin)), invitations.remove),
  route(ownInvites.list, person, own.list),
  route(ownInvites.accept, person, own.accept),
  route(ownInvites.decline, person, own.decline),
]
