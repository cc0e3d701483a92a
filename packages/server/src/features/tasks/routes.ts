import { tasks } from '@skerry/contract/tasks/endpoints'
import { keyed, signedIn } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { agent, agentRef, dispatcher, inReach, reporter } from '../agents/scope.ts'
import { admin } from '../orgs/scope.ts'
import { activity, report } from './activity.ts'
import { dispatcherOrAdmin, task } from './scope.ts'
import { dispatch, get, introspect, list, revoke } from './tasks.ts'

export const routes = [
  route(tasks.dispatch, inReach(dispatcher(agentRef)), dispatch),
  route(tasks.introspect, keyed(signedIn), introspect),
  route(tasks.revoke, dispatcherOrAdmin(task), revoke),
  route(tasks.get, task, get),
  route(tasks.list, inReach(agent(admin)), list),
  route(tasks.report, inReach(reporter(agentRef)), report),
  route(tasks.activity, inReach(agent(admin)), activity, { heavy: 'search' }),
]
