import { envs, rekey } from '@skerry/contract/envs'
import { admin, branchHolderOrAdmin, env, grantee, member } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { get, grantees, remove, update } from './envs.ts'
import { run } from './rekey.ts'

export const routes = [
  on(envs.get, env(member), get),
  on(envs.update, env(admin), update),
  on(envs.delete, branchHolderOrAdmin(env(member)), remove),
  on(envs.grantees, env(member), grantees),
  on(rekey.run, grantee(env(admin)), run), // only who holds the old key can know what to seal under the new one
]
