import { grants } from '@skerry/contract/grants'
import { admin, env, grant, grantee, member } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { create, list, own, remove } from './grants.ts'

export const routes = [
  on(grants.own, grantee(env(member)), own),
  on(grants.list, env(admin), list),
  on(grants.create, env(admin), create),
  on(grants.delete, grant(env(admin)), remove),
]
