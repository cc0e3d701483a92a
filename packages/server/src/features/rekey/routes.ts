import { rekey } from '@skerry/contract/rekey/endpoints'
import { route } from '../../http/route.ts'
import { env, grantee } from '../envs/scope.ts'
import { admin } from '../orgs/scope.ts'
import { run } from './rekey.ts'

export const routes = [
  route(rekey.run, grantee(env(admin)), run), // only who holds the old key can know what to seal under the new one
]
