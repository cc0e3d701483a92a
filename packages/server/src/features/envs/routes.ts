import { envs } from '@skerry/contract/envs/endpoints'
import { route } from '../../http/route.ts'
import { admin, member } from '../orgs/scope.ts'
import { get, grantees, remove, update } from './envs.ts'
import { branchHolderOrAdmin, env } from './scope.ts'

export const routes = [
  route(envs.get, env(member), get),
  route(envs.update, env(admin), update),
  route(envs.delete, branchHolderOrAdmin(env(member)), remove),
  route(envs.grantees, env(member), grantees),
]
