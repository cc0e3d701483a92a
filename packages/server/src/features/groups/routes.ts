import { composition, groups } from '@skerry/contract/groups'
import { admin, env, group, keyed, member } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import * as composed from './composition.ts'
import { create, createEnv, get, list, listEnvs, remove, update } from './groups.ts'

export const routes = [
  on(groups.list, member, list),
  on(groups.create, admin, create),
  on(groups.get, group(member), get),
  on(groups.update, group(admin), update),
  on(groups.delete, group(admin), remove),
  on(groups.envs, group(member), listEnvs),
  on(groups.createEnv, group(keyed(admin)), createEnv), // the creator must be able to hold the key
  on(composition.list, env(member), composed.list),
  on(composition.set, env(admin), composed.set),
  on(composition.delete, group(env(admin)), composed.remove),
]
