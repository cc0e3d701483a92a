import type { vaultProjects } from '@skerry/contract/vault/projects'
import type { Sql } from '../../../db/database.ts'
import type { In, Out } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'
import { executorLifecycle } from '../lifecycles.ts'
import type { OnProject, Project } from '../projects/scope.ts'
import { toResponse } from './executor.ts'
import { findActive } from './scope.ts'
import { moveExecutor } from './store.ts'

export async function activeOf(db: Sql, project: Project) {
  const found = await findActive(db, project)
  return found ? toResponse(found) : null
}

export async function get({
  db,
  project,
}: In<typeof vaultProjects.executor, OnProject>): Out<typeof vaultProjects.executor> {
  return { executor: await activeOf(db, project) }
}

export async function disable(
  input: In<typeof vaultProjects.disableExecutor, OnProject>,
): Out<typeof vaultProjects.disableExecutor> {
  const { db, project, now, audit } = input
  const active = await findActive(db, project)
  const status = active && executorLifecycle.next(active.status, 'disable')
  const disabled = active && status && (await moveExecutor(db, active, status, now))
  if (!disabled) throw fail('conflict', 'the project has no active executor')
  audit('vault.executor.disabled', disabled.id, { projectId: project.id, origin: disabled.origin })
  return { executor: toResponse(disabled) }
}
