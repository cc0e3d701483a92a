import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { route } from '../../http/route.ts'
import { feature, quota } from '../billing/scope.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { create, list, remove } from './honey-tokens.ts'
import { honeyToken } from './scope.ts'

const decoys = feature('honey_tokens', unbound(admin))

export const routes = [
  route(honeyTokens.list, decoys, list),
  route(honeyTokens.create, quota('honey_tokens', decoys), create),
  route(honeyTokens.delete, honeyToken(decoys), remove),
]
