import { vaultPlatform } from '@skerry/contract/vault/platform'
import { route } from '../../../http/route.ts'
import { get, list, revoke } from './connections.ts'
import { connection, platformKey, session } from './scope.ts'
import { create, createManage, get as getSession } from './sessions.ts'

export const routes = [
  route(vaultPlatform.createSession, platformKey, create),
  route(vaultPlatform.session, session(platformKey), getSession),
  route(vaultPlatform.connections, platformKey, list),
  route(vaultPlatform.connection, connection(platformKey), get),
  route(vaultPlatform.revoke, connection(platformKey), revoke),
  route(vaultPlatform.createManageSession, platformKey, createManage),
]
