import { cliSessions } from '@skerry/contract/me/cli-sessions'
import { me } from '@skerry/contract/me/endpoints'
import { recoveryKit } from '@skerry/contract/me/recovery-kit'
import { authenticated, fresh, person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import * as sessions from './cli-sessions.ts'
import { holdings, replace, reseal } from './keys.ts'
import { get, getKeys, putKeys } from './me.ts'
import * as kit from './recovery-kit.ts'

export const routes = [
  route(me.get, authenticated, get),
  route(me.getKeys, person, getKeys),
  route(me.putKeys, person, putKeys),
  route(me.patchKeys, fresh(person), reseal),
  route(me.keyHoldings, person, holdings),
  route(me.replaceKeys, fresh(person), replace),
  route(recoveryKit.get, person, kit.get),
  route(recoveryKit.put, fresh(person), kit.put),
  route(recoveryKit.delete, fresh(person), kit.remove),
  route(cliSessions.list, person, sessions.list),
  route(cliSessions.revoke, person, sessions.revoke),
]
