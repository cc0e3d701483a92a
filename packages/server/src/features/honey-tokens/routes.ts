import { honeyTokens } from '@skerry/contract/honey-tokens'
import { route } from '../../http/route.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { create, list, remove } from './honey-tokens.ts'
import { honeyToken } from './scope.ts'

export const routes = [
  route(honeyTokens.list, unbound(admin), list),
  route(honeyTokens.create, unbound(admin), create),
  route(honeyTokens.delete, honeyToken(unbound(admin)), remove),
]
