import { changes, protection } from '@skerry/contract/changes/endpoints'
import { route } from '../../http/route.ts'
import { feature } from '../billing/scope.ts'
import { env, grantee } from '../envs/scope.ts'
import { admin, member, userAdmin } from '../orgs/scope.ts'
import { approve, get, list, propose, reject, withdraw } from './changes.ts'
import * as protecting from './protection.ts'
import { proposeRekey, showRekey } from './rekeys.ts'
import { change, proposerOrAdmin } from './scope.ts'

export const routes = [
  route(protection.get, env(member), protecting.get),
  route(protection.put, feature('change_approval', env(admin)), protecting.put),
  route(protection.delete, env(admin), protecting.remove),
  route(changes.list, member, list, { heavy: 'search' }),
  route(changes.propose, grantee(env(member)), propose),
  route(changes.proposeRekey, grantee(env(admin)), proposeRekey),
  route(changes.get, change(member), get),
  route(changes.rekey, change(member), showRekey),
  route(changes.approve, change(userAdmin), approve),
  route(changes.reject, change(userAdmin), reject),
  route(changes.withdraw, proposerOrAdmin(change(member)), withdraw),
]
