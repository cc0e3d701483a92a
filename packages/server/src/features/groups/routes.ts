import { composition, groups } from '@skerry/contract/groups/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { quota } from '../billing/scope.ts'
import { env } from '../envs/scope.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import * as composed from './composition.ts'
import { create, createEnv, get, list, listEnvs, remove, update } from './groups.ts'
import { group } from './scope.ts'

export const routes = [
  route(groups.list, member, list),
  route(groups.create, unbound(admin), create),
  route(groups.get, group(member), get),
  route(groups.update, group(unbound(admin)), update),
  route(groups.delete, group(unbound(admin)), remove),
  route(groups.envs, group(member), listEnvs),
  route(groups.createEnv, quota('environments', group(keyed(unbound(admin)))), createEnv), // the creator must be able to hold the key
  route(composition.list, env(member), composed.list),
  route(composition.set, env(admin), composed.set),
  route(composition.delete, group(env(admin)), composed.remove),
]
