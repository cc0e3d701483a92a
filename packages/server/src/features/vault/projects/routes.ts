import { vaultProjects } from '@skerry/contract/vault/projects'
import { fresh } from '../../../http/access.ts'
import { route } from '../../../http/route.ts'
import { feature, quota } from '../../billing/scope.ts'
import { admin, unbound } from '../../orgs/scope.ts'
import { disable, get as getExecutor } from '../executor/admin.ts'
import { list as listConnections, revoke as revokeConnection } from './connections.ts'
import { create as createKey, createRegistrationCode, revoke as revokeKey } from './keys.ts'
import { create, get, list, update } from './projects.ts'
import { browserAdmin, connection, project, vaultKey } from './scope.ts'

export const routes = [
  route(vaultProjects.list, unbound(admin), list),
  route(vaultProjects.create, quota('vault.projects', feature('vault', unbound(admin))), create),
  route(vaultProjects.get, project(unbound(admin)), get),
  route(vaultProjects.update, project(unbound(admin)), update),
  route(vaultProjects.createKey, project(fresh(browserAdmin)), createKey),
  route(vaultProjects.revokeKey, vaultKey(project(unbound(admin))), revokeKey),
  route(vaultProjects.createRegistrationCode, project(fresh(browserAdmin)), createRegistrationCode),
  route(vaultProjects.executor, project(unbound(admin)), getExecutor),
  route(vaultProjects.disableExecutor, project(unbound(admin)), disable),
  route(vaultProjects.connections, project(unbound(admin)), listConnections),
  route(vaultProjects.revokeConnection, connection(project(unbound(admin))), revokeConnection),
]
