import { branches } from '@skerry/contract/envs'
import { env, grantee, member } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { create, list } from './branches.ts'

export const routes = [
  on(branches.list, env(member), list),
  on(branches.create, grantee(env(member)), create), // a grant on the parent, not the admin role
]
