import { honeyTokens } from '@skerry/contract/honey-tokens'
import { route } from '../../http/route.ts'
import { admin } from '../orgs/scope.ts'
import { create, list, remove } from './honey-tokens.ts'
import { honeyToken } from './scope.ts'

export const routes = [
  route(honeyTokens.list, admin, list),
  route(honeyTokens.create, admin, create),
  route(honeyTokens.delete, honeyToken(admin), remove),
]
