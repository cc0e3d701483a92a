import { tokens } from '@skerry/contract/tokens'
import { admin, token } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { create, list, remove, revoke, update } from './tokens.ts'

export const routes = [
  route(tokens.list, admin, list),
  route(tokens.create, admin, create),
  route(tokens.update, token(admin), update),
  route(tokens.revoke, token(admin), revoke),
  route(tokens.delete, token(admin), remove),
]
