import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { route } from '../../http/route.ts'
import { app } from '../apps/scope.ts'
import { quota } from '../billing/scope.ts'
import { env, grantee } from '../envs/scope.ts'
import { member } from '../orgs/scope.ts'
import { create, list, listOfApp } from './branches.ts'

export const routes = [
  route(apps.branches, app(member), listOfApp),
  route(branches.list, env(member), list),
  route(branches.create, quota('branches', grantee(env(member))), create), // a grant on the parent, not the admin role
]
