import { rekey } from '@skerry/contract/rekey/endpoints'
import { route } from '../../http/route.ts'
import { env, grantee } from '../envs/scope.ts'
import { admin } from '../orgs/scope.ts'
import { run } from './rekey.ts'

export const routes = [
  route(rekey.run, grantee(env(admin)), run), // only a holder of the old key knows what to encrypt under the new one
]
