import { grants } from '@skerry/contract/grants/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { env, grantee } from '../envs/scope.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import { create, list, overview, own, readers, remove } from './grants.ts'
import { createMany } from './many.ts'
import { missing, plan, planned } from './missing.ts'
import { grant } from './scope.ts'

export const routes = [
  route(grants.own, grantee(env(member)), own),
  route(grants.list, env(admin), list),
  route(grants.readers, env(admin), readers),
  route(grants.overview, unbound(admin), overview, { heavy: 'search' }),
  route(grants.create, grantee(env(admin)), create), // an admin without the key could only invent one
  route(grants.delete, grant(env(admin)), remove),
  route(grants.missing, unbound(member), missing, { heavy: 'search' }),
  route(grants.createMany, keyed(unbound(admin)), createMany), // each row needs the key, too
  route(grants.planned, unbound(admin), planned),
  route(grants.plan, unbound(admin), plan),
]
