import type { AgentTask } from '@skerry/contract/tasks/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { accessOf, type Checked, narrowed, signedIn } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { ofPrincipal, reachOf } from '../agents/scope.ts'
import { type InOrg, isAdmin, member } from '../orgs/scope.ts'

/** The status depends on the clock, so it is not stored. */
export type Task = Checked<Omit<Static<typeof AgentTask>, 'status'> & { orgId: string }>

export type OnTask = InOrg & { task: Task }

/** Columns of `agent_tasks t`. They include no hash. */
export const taskColumns = `t.org_id, t.id, t.task_ref, t.agent_id, t.scopes, t.label, t.proof_thumbprint,
  t.dispatched_by_type, t.dispatched_by_id, t.created_at, t.expires_at, t.last_seen_at, t.revoked_at`

/** Returns the first match in the caller’s organizations, because references are as random as ids. */
const findTask = (db: Sql, principal: Principal, taskId: string) =>
  db.row<Task>(
    `select ${taskColumns} from agent_tasks t
      where (t.id = $1 or t.task_ref = $1) and ${ofPrincipal('t.org_id', '$2', '$3')} limit 1`,
    [taskId, ...reachOf(principal)],
  )

/** Finds a task by its id, or by the public segment of its token. */
export const task = accessOf<OnTask, 'taskId'>(
  'task',
  'A caller who belongs to the organization of the task',
  async (call, params) => {
    const { principal } = await signedIn.resolve(call, {})
    const found = await findTask(call.db, principal, params.taskId)
    if (!found) throw fail('not_found', 'no such task')
    return { ...(await member.resolve(call, { orgId: found.orgId })), task: found }
  },
)

export const dispatcherOrAdmin = <S extends OnTask, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'dispatcherOrAdmin',
    'The caller must be an admin, or must have registered the task (`tasks.dispatch`)',
    base,
    async (scope) => {
      const { principal, task } = scope
      const isOwn = task.dispatchedByType === principal.type && task.dispatchedById === principal.id
      if (!isAdmin(scope) && !isOwn) throw fail('forbidden', 'only an admin or the dispatcher of the task may do this')
      return scope
    },
  )
