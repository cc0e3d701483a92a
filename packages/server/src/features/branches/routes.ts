import { branches } from '@skerry/contract/envs'
import { route } from '../../http/route.ts'
import { quota } from '../billing/scope.ts'
import { env, grantee } from '../envs/scope.ts'
import { member } from '../orgs/scope.ts'
import { create, list } from './branches.ts'

export const routes = [
  route(branches.list, env(member), list),
  route(branches.create, quota('branches', grantee(env(member))), create), // a grant on the parent, not the admin role
]
