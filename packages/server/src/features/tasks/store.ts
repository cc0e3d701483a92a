import { limits } from '@skerry/contract/limits'
import type { Sql, Tx } from '../../db/database.ts'
import type { Principal } from '../../kernel/principal.ts'
import { type Agent, ofPrincipal, reachOf } from '../agents/scope.ts'
import { taskLifecycle } from './lifecycle.ts'
import { type Task, taskColumns } from './scope.ts'

export const listTasks = (db: Sql, { orgId, id }: Agent) =>
  db.rows<Task>(
    `select ${taskColumns} from agent_tasks t where t.org_id = $1 and t.agent_id = $2
      order by t.created_at desc, t.id desc limit $3`,
    [orgId, id, limits.agentTasksListed],
  )

/** Returns undefined if the organization has a task with this reference or token. */
export const insertTask = (
  db: Tx,
  { orgId, id: agentId }: Agent,
  one: {
    id: string
    taskRef: string
    tokenHash: string
    scopes: string[] | null
    label: string | null
    proofThumbprint: string | null
    dispatchedBy: { type: string; id: string }
    now: string
    expiresAt: string
  },
) =>
  db.row<Task>(
    `insert into agent_tasks as t (org_id, id, agent_id, task_ref, token_hash, scopes, label, proof_thumbprint,
                                   dispatched_by_type, dispatched_by_id, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict do nothing returning ${taskColumns}`,
    [
      orgId,
      one.id,
      agentId,
      one.taskRef,
      one.tokenHash,
      one.scopes === null ? null : JSON.stringify(one.scopes),
      one.label,
      one.proofThumbprint,
      one.dispatchedBy.type,
      one.dispatchedBy.id,
      one.now,
      one.expiresAt,
    ],
  )

/** A task whose token was presented, with its agent and the second-factor rule of its organization. */
export type Presented = Task & {
  slug: string
  name: string
  enabled: boolean
  environmentId: string | null
  policyVersion: number
  mfaRequired: boolean
}

export const findPresented = (db: Sql, principal: Principal, tokenHash: string) =>
  db.row<Presented>(
    `select ${taskColumns}, a.slug, a.name, a.enabled, a.environment_id, a.policy_version, o.mfa_required
       from agent_tasks t join agents a on a.org_id = t.org_id and a.id = t.agent_id
       join organizations o on o.id = t.org_id
      where t.token_hash = $1 and ${ofPrincipal('t.org_id', '$2', '$3')} limit 1`,
    [tokenHash, ...reachOf(principal)],
  )

/** Notes a use at most once a minute, because proxies ask on every run. */
export const noteSeen = (db: Sql, { orgId, id }: Task, now: string) =>
  db.row(
    `update agent_tasks set last_seen_at = $3 where org_id = $1 and id = $2
        and (last_seen_at is null or last_seen_at <= $3::timestamptz - interval '1 minute')
      returning id`,
    [orgId, id, now],
  )

/** Returns undefined if the task cannot be revoked in its state. */
export const revokeTask = (db: Tx, { orgId, id }: Task, now: string) =>
  db.row<Task>(
    `update agent_tasks t set revoked_at = $3
      where t.org_id = $1 and t.id = $2
        and case when t.revoked_at is not null then 'revoked' when t.expires_at <= $3 then 'expired' else 'active' end
            = any($4::text[])
     returning ${taskColumns}`,
    [orgId, id, now, taskLifecycle.before('revoke', 'revoked')],
  )
