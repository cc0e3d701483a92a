import { apps } from '@skerry/contract/apps/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { quota } from '../billing/scope.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import { create, createEnv, get, list, listEnvs, remove, update } from './apps.ts'
import { app } from './scope.ts'

export const routes = [
  route(apps.list, member, list),
  route(apps.create, quota('apps', unbound(admin)), create),
  route(apps.get, app(member), get),
  route(apps.update, app(admin), update),
  route(apps.delete, app(admin), remove),
  route(apps.envs, app(member), listEnvs),
  route(apps.createEnv, quota('environments', app(keyed(admin))), createEnv), // the creator must be able to hold the key
]
