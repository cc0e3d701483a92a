import { live } from '@skerry/contract/live/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { app } from '../apps/scope.ts'
import { member, memberInPerson, unbound } from '../orgs/scope.ts'
import { events, leave, look } from './live.ts'

export const routes = [
  route(live.events, keyed(unbound(member)), events),
  route(live.look, app(memberInPerson), look),
  route(live.leave, app(memberInPerson), leave),
]
