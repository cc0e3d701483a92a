import { invites, members as membership, mfaPolicy, orgs } from '@skerry/contract/orgs'
import { person, signedIn } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import * as invitations from './invites.ts'
import { remove, update as updateMember } from './members.ts'
import * as mfa from './mfa-policy.ts'
import { create, get, list, members, update } from './orgs.ts'
import { admin, invite, member } from './scope.ts'

export const routes = [
  route(orgs.list, signedIn, list),
  route(orgs.create, person, create),
  route(orgs.get, member, get),
  route(orgs.update, admin, update),
  route(orgs.members, member, members),
  route(membership.update, admin, updateMember),
  // Anyone may leave; who may remove others, the handler decides.
  route(membership.remove, member, remove),
  route(mfaPolicy.get, admin, mfa.get),
  route(mfaPolicy.update, admin, mfa.update),
  route(invites.list, admin, invitations.list),
  route(invites.create, admin, invitations.create),
  route(invites.delete, invite(admin), invitations.remove),
]
