import { vaultExecutor } from '@skerry/contract/vault/executor'
import { limited, open } from '../../../http/access.ts'
import { route } from '../../../http/route.ts'
import { get, release, revoke, setStatus, writeBack } from './credentials.ts'
import { addKey, me, register, setCatalog } from './executor.ts'
import { connection, executor, executorKey, releases } from './scope.ts'
import { complete, verify } from './sessions.ts'

export const routes = [
  route(vaultExecutor.register, limited('vaultRegister', open('the code is the credential')), register),
  route(vaultExecutor.me, executor, me),
  route(vaultExecutor.catalog, executor, setCatalog),
  route(vaultExecutor.addKey, executor, addKey),
  route(vaultExecutor.verifySession, executor, verify),
  route(vaultExecutor.complete, executor, complete),
  route(vaultExecutor.connection, connection(executor), get),
  route(vaultExecutor.release, releases(executorKey), release),
  route(vaultExecutor.writeBack, connection(executor), writeBack),
  route(vaultExecutor.setStatus, connection(executor), setStatus),
  route(vaultExecutor.revoke, connection(executor), revoke),
]
