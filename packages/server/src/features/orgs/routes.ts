import { mfaPolicy, orgs } from '@skerry/contract/orgs/endpoints'
import { person, signedIn } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import * as mfa from './mfa-policy.ts'
import { create, get, list, members, update } from './orgs.ts'
import { admin, member, unbound } from './scope.ts'

export const routes = [
  route(orgs.list, signedIn, list),
  route(orgs.create, person, create),
  route(orgs.get, member, get),
  route(orgs.update, unbound(admin), update),
  route(orgs.members, member, members),
  route(mfaPolicy.get, unbound(admin), mfa.get),
  route(mfaPolicy.update, unbound(admin), mfa.update),
]
