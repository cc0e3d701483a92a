import { cliSessions } from '@skerry/contract/cli-sessions'
import { me } from '@skerry/contract/me'
import { authenticated, person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import * as sessions from './cli-sessions.ts'
import { get, getKeys, putKeys } from './me.ts'

export const routes = [
  route(me.get, authenticated, get),
  route(me.getKeys, person, getKeys),
  route(me.putKeys, person, putKeys),
  route(cliSessions.list, person, sessions.list),
  route(cliSessions.revoke, person, sessions.revoke),
]
