import { sync } from '@skerry/contract/sync/endpoints'
import { route } from '../../http/route.ts'
import { feature, quota } from '../billing/scope.ts'
import { admin, unbound } from '../orgs/scope.ts'
import * as bindings from './bindings.ts'
import * as connections from './connections.ts'
import { list, run } from './runs.ts'
import { binding, connection } from './scope.ts'

export const routes = [
  route(sync.connections, unbound(admin), connections.list),
  route(sync.publicKey, unbound(admin), connections.publicKey),
  route(sync.createConnection, feature('sync', quota('sync.connections', unbound(admin))), connections.create),
  route(sync.updateConnection, connection(unbound(admin)), connections.update),
  route(sync.verifyConnection, connection(unbound(admin)), connections.verify),
  route(sync.deleteConnection, connection(unbound(admin)), connections.remove),
  route(sync.bindings, unbound(admin), bindings.list),
  route(sync.createBinding, feature('sync', unbound(admin)), bindings.create),
  route(sync.updateBinding, binding(unbound(admin)), bindings.update),
  route(sync.deleteBinding, binding(unbound(admin)), bindings.remove),
  route(sync.plan, binding(unbound(admin)), bindings.plan),
  route(sync.run, binding(unbound(admin)), run),
  route(sync.runs, unbound(admin), list),
]
