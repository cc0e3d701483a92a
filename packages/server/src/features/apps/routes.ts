import { apps } from '@skerry/contract/apps'
import { admin, app, keyed, member } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { listOfApp } from '../branches/branches.ts'
import { create, createEnv, get, list, listEnvs, remove, update } from './apps.ts'

export const routes = [
  on(apps.list, member, list),
  on(apps.create, admin, create),
  on(apps.get, app(member), get),
  on(apps.update, app(admin), update),
  on(apps.delete, app(admin), remove),
  on(apps.envs, app(member), listEnvs),
  on(apps.createEnv, app(keyed(admin)), createEnv), // the creator must be able to hold the key
  on(apps.branches, app(member), listOfApp),
]
