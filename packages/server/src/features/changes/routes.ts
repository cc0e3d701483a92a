import { changes, protection } from '@skerry/contract/changes'
import { admin, change, env, member, proposerOrAdmin, userAdmin } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { approve, get, list, reject, withdraw } from './changes.ts'
import * as protecting from './protection.ts'

export const routes = [
  on(protection.get, env(member), protecting.get),
  on(protection.put, env(admin), protecting.put),
  on(protection.delete, env(admin), protecting.remove),
  on(changes.list, member, list),
  on(changes.get, change(member), get),
  on(changes.approve, change(userAdmin), approve),
  on(changes.reject, change(userAdmin), reject),
  on(changes.withdraw, proposerOrAdmin(change(member)), withdraw),
]
