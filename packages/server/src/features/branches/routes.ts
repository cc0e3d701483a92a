import { branches } from '@skerry/contract/envs'
import { env, grantee, member } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { create, list } from './branches.ts'

export const routes = [
  route(branches.list, env(member), list),
  route(branches.create, grantee(env(member)), create), // a grant on the parent, not the admin role
]
