import { honeyTokens } from '@skerry/contract/honey-tokens'
import { admin, honeyToken } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { create, list, remove } from './honey-tokens.ts'

export const routes = [
  route(honeyTokens.list, admin, list),
  route(honeyTokens.create, admin, create),
  route(honeyTokens.delete, honeyToken(admin), remove),
]
