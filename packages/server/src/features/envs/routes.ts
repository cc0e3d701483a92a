import { envs } from '@skerry/contract/envs'
import { admin, branchHolderOrAdmin, env, member } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { get, grantees, remove, update } from './envs.ts'

export const routes = [
  on(envs.get, env(member), get),
  on(envs.update, env(admin), update),
  on(envs.delete, branchHolderOrAdmin(env(member)), remove),
  on(envs.grantees, env(member), grantees),
]
