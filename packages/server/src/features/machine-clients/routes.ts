import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { route } from '../../http/route.ts'
import { userAdmin } from '../orgs/scope.ts'
import { create, list, renewSecret, revoke } from './machine-clients.ts'
import { client } from './scope.ts'

// Only for admins in person, because a credential that could make others of its kind would outlive its own end.
export const routes = [
  route(machineClients.list, userAdmin, list),
  route(machineClients.create, userAdmin, create),
  route(machineClients.renewSecret, client(userAdmin), renewSecret),
  route(machineClients.revoke, client(userAdmin), revoke),
]
