import { tokens } from '@skerry/contract/tokens/endpoints'
import { route } from '../../http/route.ts'
import { quota } from '../billing/scope.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { token } from './scope.ts'
import { create, list, remove, revoke, update } from './tokens.ts'

export const routes = [
  route(tokens.list, unbound(admin), list),
  route(tokens.create, quota('service_tokens', unbound(admin)), create),
  route(tokens.update, token(unbound(admin)), update),
  route(tokens.revoke, token(unbound(admin)), revoke),
  route(tokens.delete, token(unbound(admin)), remove),
]
