import { grants } from '@skerry/contract/grants'
import { admin, env, grant, grantee, member } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { create, list, own, remove } from './grants.ts'

export const routes = [
  route(grants.own, grantee(env(member)), own),
  route(grants.list, env(admin), list),
  route(grants.create, env(admin), create),
  route(grants.delete, grant(env(admin)), remove),
]
