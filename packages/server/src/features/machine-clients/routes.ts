import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { route } from '../../http/route.ts'
import { userAdmin } from '../orgs/scope.ts'
import { create, list, renewSecret, revoke } from './machine-clients.ts'
import { client } from './scope.ts'

// Only admins in person may call this. A credential that could make others of its kind would still give access after it
// was revoked.
export const routes = [
  route(machineClients.list, userAdmin, list),
  route(machineClients.create, userAdmin, create),
  route(machineClients.renewSecret, client(userAdmin), renewSecret),
  route(machineClients.revoke, client(userAdmin), revoke),
]
