import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { route } from '../../../http/route.ts'
import { admin, unbound } from '../../orgs/scope.ts'
import { platformKey } from '../platform/scope.ts'
import { project } from '../projects/scope.ts'
import { eraseByAdmin, eraseByPlatform } from './users.ts'

export const routes = [
  route(vaultPlatform.eraseUser, platformKey, eraseByPlatform),
  route(vaultProjects.eraseUser, project(unbound(admin)), eraseByAdmin),
]
