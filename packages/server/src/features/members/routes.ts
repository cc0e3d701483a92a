import { invites, members } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { quota } from '../billing/scope.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import * as invitations from './invites.ts'
import { remove, update } from './members.ts'
import * as own from './own-invites.ts'
import { invite } from './scope.ts'

export const routes = [
  route(members.update, unbound(admin), update),
  // Anyone may leave. The handler decides who may remove others.
  route(members.remove, unbound(member), remove),
  route(invites.list, unbound(admin), invitations.list),
  route(invites.create, quota('members', unbound(admin)), invitations.create),
  route(invites.resend, invite(unbound(admin)), invitations.resend),
  route(invites.delete, invite(unbound(admin)), invitations.remove),
  route(ownInvites.list, person, own.list),
  route(ownInvites.accept, person, own.accept),
  route(ownInvites.decline, person, own.decline),
]
