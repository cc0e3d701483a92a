import { overrides } from '@skerry/contract/overrides/endpoints'
import { route } from '../../http/route.ts'
import { env, grantee } from '../envs/scope.ts'
import { admin, memberInPerson } from '../orgs/scope.ts'
import { count, create, list, remove, replace } from './overrides.ts'
import { override } from './scope.ts'

export const routes = [
  route(overrides.list, grantee(env(memberInPerson)), list),
  route(overrides.count, env(admin), count),
  route(overrides.create, grantee(env(memberInPerson)), create),
  route(overrides.replace, override(grantee(env(memberInPerson))), replace),
  route(overrides.delete, override(grantee(env(memberInPerson))), remove),
]
