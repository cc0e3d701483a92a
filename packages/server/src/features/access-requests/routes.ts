import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { route } from '../../http/route.ts'
import { admin, member, memberInPerson, unbound } from '../orgs/scope.ts'
import { create, decline, get, list, withdraw } from './access-requests.ts'
import { accessRequest, own } from './scope.ts'

export const routes = [
  route(accessRequests.list, unbound(member), list),
  route(accessRequests.create, memberInPerson, create),
  route(accessRequests.get, accessRequest(unbound(member)), get),
  route(accessRequests.decline, accessRequest(unbound(admin)), decline),
  route(accessRequests.withdraw, own(accessRequest(memberInPerson)), withdraw),
]
