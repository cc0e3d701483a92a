import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { route } from '../../http/route.ts'
import { env, grantee } from '../envs/scope.ts'
import { member } from '../orgs/scope.ts'
import { list, update } from './secret-details.ts'

export const routes = [
  route(secretDetails.list, grantee(env(member)), list, { heavy: 'search' }),
  route(secretDetails.update, grantee(env(member)), update),
]
