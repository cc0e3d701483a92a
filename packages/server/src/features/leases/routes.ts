import { leases } from '@skerry/contract/leases/endpoints'
import { provisioner } from '@skerry/contract/leases/provisioner'
import { route } from '../../http/route.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { forget, get, list, revoke } from './leases.ts'
import { create } from './mint.ts'
import { claim, report, serviceToken } from './provisioner.ts'
import { lease, target } from './scope.ts'
import * as targets from './targets.ts'

export const routes = [
  route(leases.brokerKey, unbound(admin), targets.brokerKey),
  route(leases.targets, unbound(admin), targets.list),
  route(leases.createTarget, unbound(admin), targets.create),
  route(leases.updateTarget, target(unbound(admin)), targets.update),
  route(leases.verifyTarget, target(unbound(admin)), targets.verify),
  route(leases.deleteTarget, target(unbound(admin)), targets.remove),
  route(leases.list, unbound(admin), list, { heavy: 'search' }),
  route(leases.create, unbound(admin), create),
  route(leases.get, lease(unbound(admin)), get),
  route(leases.revoke, lease(unbound(admin)), revoke),
  route(leases.forget, lease(unbound(admin)), forget),
  route(provisioner.claim, serviceToken, claim),
  route(provisioner.report, serviceToken, report),
]
