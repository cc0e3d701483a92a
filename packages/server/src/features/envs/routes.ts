import { envs, rekey } from '@skerry/contract/envs'
import { route } from '../../http/route.ts'
import { admin, member } from '../orgs/scope.ts'
import { get, grantees, remove, update } from './envs.ts'
import { run } from './rekey.ts'
import { branchHolderOrAdmin, env, grantee } from './scope.ts'

export const routes = [
  route(envs.get, env(member), get),
  route(envs.update, env(admin), update),
  route(envs.delete, branchHolderOrAdmin(env(member)), remove),
  route(envs.grantees, env(member), grantees),
  route(rekey.run, grantee(env(admin)), run), // only who holds the old key can know what to seal under the new one
]
