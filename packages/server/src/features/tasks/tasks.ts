import { limits } from '@skerry/contract/limits'
import type { tasks } from '@skerry/contract/tasks/endpoints'
import type { AgentTask } from '@skerry/contract/tasks/schemas'
import type { Static } from 'typebox'
import { secondFactorNeeded } from '../../http/access.ts'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo, isSecondFactorBehind, type Principal } from '../../kernel/principal.ts'
import { thumbprintOf } from '../agents/bundle.ts'
import { livePolicy } from '../agents/policies.ts'
import type { OnAgent } from '../agents/scope.ts'
import { statusOf, taskLifecycle } from './lifecycle.ts'
import type { OnTask, Task } from './scope.ts'
import { findPresented, insertTask, listTasks, noteSeen, type Presented, revokeTask } from './store.ts'

/** Published proxies read this name. Ours accept `x-skerry-ticket`, too. */
const header = 'x-seekrit-ticket'

/** Registers a token that the caller made and keeps. A task can only narrow the policy. */
export async function dispatch(input: In<typeof tasks.dispatch, OnAgent>): Out<typeof tasks.dispatch> {
  const { db, agent, principal, body, now, newId, audit } = input
  if (!agent.enabled) throw fail('forbidden', 'this agent is disabled')
  await checkScopes(input, body.scopes)
  const { taskRef, tokenHash, scopes = null, label = null, ttlSeconds = limits.taskTtlDefaultSeconds } = body
  const task = await insertTask(db, agent, {
    id: newId('agentTask'),
    taskRef,
    tokenHash,
    scopes,
    label,
    proofThumbprint: proofThumbprintOf(body.proofJwk),
    dispatchedBy: principal,
    now,
    expiresAt: new Date(Date.parse(now) + ttlSeconds * 1000).toISOString(),
  })
  if (!task) throw fail('conflict', 'body.taskRef: is already registered')
  const metadata = { agentId: agent.id, taskRef, scopes, ttlSeconds, label }
  // The path names no organization, so the entry does.
  audit('agent.task_dispatched', task.id, metadata, { orgId: agent.orgId })
  return { task: toResponse(task, now), header }
}

async function checkScopes(
  { db, agent, now }: Pick<In<typeof tasks.dispatch, OnAgent>, 'db' | 'agent' | 'now'>,
  scopes: string[] = [],
): Promise<void> {
  const live = await livePolicy(db, agent)
  if (!live) throw fail('invalid_request', 'no policy is published for this agent: it permits nothing')
  if (live.expiresAt <= now) throw fail('invalid_request', 'the policy of this agent has expired: it permits nothing')
  const permitted = new Set(live.rules.flatMap((rule) => rule.allow))
  const unknown = scopes.filter((name) => !permitted.has(name))
  if (unknown.length > 0)
    throw fail('invalid_request', `body.scopes: the policy permits no ${unknown.slice(0, 10).join(', ')}`)
}

function proofThumbprintOf(proofJwk: object | undefined): string | null {
  if (proofJwk === undefined) return null
  const text = JSON.stringify(proofJwk)
  checkPublicKey('body.proofJwk', text)
  return thumbprintOf(text)
}

export async function introspect(
  input: In<typeof tasks.introspect, { principal: Principal }>,
): Out<typeof tasks.introspect> {
  const { db, principal, body, now } = input
  const task = await findPresented(db, principal, sha256(body.token))
  if (!task) throw fail('not_found', 'no such task')
  if (principal.type === 'user' && task.mfaRequired && !isSecondFactorBehind(principal.session))
    throw fail('mfa_required', secondFactorNeeded)
  checkUsable(task, principal, now)
  await noteSeen(db, task, now)
  const { agentId, slug, name, policyVersion, scopes, proofThumbprint, expiresAt } = task
  return {
    session: {
      taskId: task.id,
      agent: { id: agentId, slug, name },
      scopes,
      policyVersion,
      proofThumbprint,
      expiresAt,
    },
  }
}

function checkUsable(task: Presented, principal: Principal, now: string): void {
  const status = statusOf(task, now)
  if (taskLifecycle.next(status, 'use') === undefined)
    throw fail('forbidden', `this task has ${status === 'revoked' ? 'been revoked' : status}`)
  if (!task.enabled) throw fail('forbidden', 'the agent of this task is disabled')
  const bound = boundTo(principal)
  if (bound !== null && task.environmentId !== null && task.environmentId !== bound)
    throw fail('forbidden', 'this token is bound to another environment than the agent')
}

export async function revoke(input: In<typeof tasks.revoke, OnTask>): Out<typeof tasks.revoke> {
  const { db, task, now, audit } = input
  const revoked = await revokeTask(db, task, now)
  const { orgId, agentId, taskRef } = task
  if (revoked) audit('agent.task_revoked', task.id, { agentId, taskRef }, { orgId })
  return { task: toResponse(revoked ?? task, now) }
}

export async function get({ task, now }: In<typeof tasks.get, OnTask>): Out<typeof tasks.get> {
  return { task: toResponse(task, now) }
}

export async function list({ db, agent, now }: In<typeof tasks.list, OnAgent>): Out<typeof tasks.list> {
  const rows = await listTasks(db, agent)
  return { tasks: rows.map((task) => toResponse(task, now)) }
}

const toResponse = ({ orgId, ...task }: Task, now: string): Static<typeof AgentTask> => ({
  ...task,
  status: statusOf(task, now),
})
