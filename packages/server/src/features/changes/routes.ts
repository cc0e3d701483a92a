import { changes, protection } from '@skerry/contract/changes'
import { admin, change, env, member, proposerOrAdmin, userAdmin } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { approve, get, list, reject, withdraw } from './changes.ts'
import * as protecting from './protection.ts'

export const routes = [
  route(protection.get, env(member), protecting.get),
  route(protection.put, env(admin), protecting.put),
  route(protection.delete, env(admin), protecting.remove),
  route(changes.list, member, list),
  route(changes.get, change(member), get),
  route(changes.approve, change(userAdmin), approve),
  route(changes.reject, change(userAdmin), reject),
  route(changes.withdraw, proposerOrAdmin(change(member)), withdraw),
]
