import { live } from '@skerry/contract/live/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { app } from '../apps/scope.ts'
import { member, unbound } from '../orgs/scope.ts'
import { events, leave, look } from './live.ts'
import { inPerson } from './scope.ts'

export const routes = [
  route(live.events, keyed(unbound(member)), events),
  route(live.look, app(inPerson(member)), look),
  route(live.leave, app(inPerson(member)), leave),
]
