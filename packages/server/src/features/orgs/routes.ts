import { invites, orgs } from '@skerry/contract/orgs'
import { admin, anyone, invite, member, person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import * as invitations from './invites.ts'
import { create, get, list, members, update } from './orgs.ts'

export const routes = [
  on(orgs.list, anyone, list),
  on(orgs.create, person, create),
  on(orgs.get, member, get),
  on(orgs.update, admin, update),
  on(orgs.members, member, members),
  on(invites.list, admin, invitations.list),
  on(invites.create, admin, invitations.create),
  on(invites.delete, invite(admin), invitations.remove),
]
