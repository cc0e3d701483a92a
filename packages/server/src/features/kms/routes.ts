import { kms } from '@skerry/contract/kms/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { quota } from '../billing/scope.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import { grant, list as listGrants, own, revoke } from './grants.ts'
import { create, disable, enable, get, list, publicKeys, remove, rotate } from './keys.ts'
import { kmsKey, noBoundAdmin } from './scope.ts'

export const routes = [
  route(kms.list, noBoundAdmin(member), list),
  route(kms.create, quota('kms.keys', unbound(admin)), create),
  route(kms.get, kmsKey(unbound(admin)), get),
  route(kms.own, keyed(kmsKey(noBoundAdmin(member))), own),
  route(kms.public, kmsKey(noBoundAdmin(member)), publicKeys),
  route(kms.grants, kmsKey(unbound(admin)), listGrants),
  route(kms.grant, kmsKey(unbound(admin)), grant),
  route(kms.revoke, kmsKey(unbound(admin)), revoke),
  route(kms.rotate, kmsKey(unbound(admin)), rotate),
  route(kms.disable, kmsKey(unbound(admin)), disable),
  route(kms.enable, kmsKey(unbound(admin)), enable),
  route(kms.delete, kmsKey(unbound(admin)), remove),
]
