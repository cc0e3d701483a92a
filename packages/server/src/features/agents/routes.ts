import { agents } from '@skerry/contract/agents/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { feature, quota } from '../billing/scope.ts'
import { admin, unbound, userAdmin } from '../orgs/scope.ts'
import { create, get, list, remove, signer, update } from './agents.ts'
import { policies, policy, publish, rollback } from './policies.ts'
import { agent, agentRef, inReach } from './scope.ts'

export const routes = [
  route(agents.list, admin, list),
  route(agents.create, feature('agents', quota('agents', admin)), create),
  route(agents.signer, unbound(admin), signer),
  route(agents.get, inReach(agent(admin)), get),
  route(agents.update, inReach(agent(admin)), update),
  route(agents.delete, inReach(agent(admin)), remove),
  route(agents.policies, inReach(agent(admin)), policies),
  // A token cannot sign for a person.
  route(agents.publish, feature('agents', agent(userAdmin)), publish),
  route(agents.rollback, inReach(agent(admin)), rollback),
  route(agents.policy, inReach(keyed(agentRef)), policy),
]
