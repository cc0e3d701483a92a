import { honeyTokens } from '@skerry/contract/honey-tokens'
import { admin, honeyToken } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { create, list, remove } from './honey-tokens.ts'

export const routes = [
  on(honeyTokens.list, admin, list),
  on(honeyTokens.create, admin, create),
  on(honeyTokens.delete, honeyToken(admin), remove),
]
