import { tokens } from '@skerry/contract/tokens'
import { admin, token } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { create, list, remove, revoke, update } from './tokens.ts'

export const routes = [
  on(tokens.list, admin, list),
  on(tokens.create, admin, create),
  on(tokens.update, token(admin), update),
  on(tokens.revoke, token(admin), revoke),
  on(tokens.delete, token(admin), remove),
]
