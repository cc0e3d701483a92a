import { recovery, recoveryRequests } from '@skerry/contract/recovery/endpoints'
import { route } from '../../http/route.ts'
import { feature } from '../billing/scope.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import { cover, disable, enable, envKeys, get, publicKey, rotate, share } from './recovery.ts'
import * as requests from './requests.ts'
import { adminOrReadyTarget, adminOrTarget, anyParty, custodian, party, recovered, recoveryRequest } from './scope.ts'

export const routes = [
  route(recovery.get, unbound(admin), get),
  route(recovery.publicKey, member, publicKey),
  route(recovery.enable, feature('recovery', unbound(admin)), enable),
  route(recovery.rotate, recovered(unbound(admin)), rotate),
  route(recovery.disable, recovered(unbound(admin)), disable),
  route(recovery.cover, recovered(unbound(admin)), cover),
  route(recovery.share, custodian(recovered(member)), share),
  route(recovery.envKeys, adminOrReadyTarget(member), envKeys, { heavy: 'search' }),
  route(recoveryRequests.list, anyParty(member), requests.list),
  route(recoveryRequests.open, unbound(admin), requests.open),
  route(recoveryRequests.get, party(recoveryRequest(member)), requests.get),
  route(recoveryRequests.contribute, custodian(recoveryRequest(member)), requests.contribute),
  route(recoveryRequests.complete, adminOrTarget(recoveryRequest(member)), requests.complete),
  route(recoveryRequests.cancel, recoveryRequest(unbound(admin)), requests.cancel),
]
