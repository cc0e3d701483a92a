import { tokens } from '@skerry/contract/tokens'
import { route } from '../../http/route.ts'
import { admin } from '../orgs/scope.ts'
import { token } from './scope.ts'
import { create, list, remove, revoke, update } from './tokens.ts'

export const routes = [
  route(tokens.list, admin, list),
  route(tokens.create, admin, create),
  route(tokens.update, token(admin), update),
  route(tokens.revoke, token(admin), revoke),
  route(tokens.delete, token(admin), remove),
]
