import { invites, members as membership, mfaPolicy, orgs } from '@skerry/contract/orgs'
import { admin, anyone, invite, member, person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import * as invitations from './invites.ts'
import { remove, update as updateMember } from './members.ts'
import * as mfa from './mfa-policy.ts'
import { create, get, list, members, update } from './orgs.ts'

export const routes = [
  on(orgs.list, anyone, list),
  on(orgs.create, person, create),
  on(orgs.get, member, get),
  on(orgs.update, admin, update),
  on(orgs.members, member, members),
  on(membership.update, admin, updateMember),
  // Anyone may leave; who may remove others, the handler decides.
  on(membership.remove, member, remove),
  on(mfaPolicy.get, admin, mfa.get),
  on(mfaPolicy.update, admin, mfa.update),
  on(invites.list, admin, invitations.list),
  on(invites.create, admin, invitations.create),
  on(invites.delete, invite(admin), invitations.remove),
]
