import type { ChangeRequest, ChangeStatus, SecretChangeRequest, ShownChange } from '@skerry/contract/changes/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { boundTo, type Principal } from '../../kernel/principal.ts'
import { keyedState } from '../../model/environments/keyed.ts'
import { notExpired } from '../../model/environments/table.ts'
import { ownGrant } from '../../model/grants/table.ts'
import { type Env, inReachOf } from '../envs/scope.ts'
import type { Org } from '../orgs/scope.ts'
import type { Change } from './scope.ts'
import { changeColumns } from './scope.ts'

export type Status = Static<typeof ChangeStatus>

/** A change as answers show it. */
export type ChangeRow = Static<typeof ChangeRequest>

/** A change of one secret, which is no re-key. */
export type SecretChangeRow = Static<typeof SecretChangeRequest>

export const insertChange = (
  db: Tx,
  env: Env,
  change: ChangeRow & { baseSecretId: string | null; baseState: string | null },
) =>
  db.rows(
    `insert into change_requests (org_id, id, environment_id, secret_name, action, ciphertext, restore_version,
                                  keep_for, deleted_secret_id, base_secret_id, base_version, note, group_id, group_size, proposed_by_type,
                                  proposed_by_id, required_approvals, allow_self_approval, status, created_at, base_state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
    [
      env.orgId,
      change.id,
      env.id,
      change.secretName,
      change.action,
      change.ciphertext,
      change.restoreVersion,
      change.keepFor,
      change.deletedSecretId,
      change.baseSecretId,
      change.baseVersion,
      change.note,
      change.groupId,
      change.groupSize,
      change.proposedByType,
      change.proposedById,
      change.requiredApprovals,
      change.allowSelfApproval,
      change.status,
      change.createdAt,
      change.baseState,
    ],
  )

export interface Filter {
  status?: Status | undefined
  envId?: string | undefined
  applicationId?: string | undefined
  groupId?: string | undefined
}

/** SQL condition on `secrets t`: it has the name of the change `c`. */
const named = 't.org_id = c.org_id and t.environment_id = c.environment_id and t.name = c.secret_name'

/** SQL condition on a change `c` of a secret: the secret is the same one at the same version as at the proposal. */
const isAtBase = `case when c.base_secret_id is null then not exists (select from secrets t where ${named}) else exists (
  select from secrets t where ${named} and t.id = c.base_secret_id and t.current_version = c.base_version) end`

/** SQL of whether a change `c` of the environment `e` is open, and could no longer be applied. */
const isStale = (now: `$${number}`) => `case
  when c.status <> 'open' then false
  when c.action = 'rekey' then c.base_state <> ${keyedState(now)}
  else (not (c.action = 'delete' and c.deleted_secret_id is not null) and not ${isAtBase})
    or (c.deleted_secret_id is not null and not exists (
          select from deleted_secrets d
           where d.org_id = c.org_id and d.environment_id = c.environment_id and d.id = c.deleted_secret_id
             and d.kept_until > ${now} and (c.action <> 'restore' or d.key_since_version <= d.current_version)))
  end`

/** SQL that joins how and when the proposer of a change `c` lost access. */
const proposerEnd = `left join lateral (
    select 'revoked' as proposer_ended, t.revoked_at as proposer_ended_at from service_tokens t
     where c.proposed_by_type = 'service_token' and t.org_id = c.org_id and t.id = c.proposed_by_id
       and t.revoked_at is not null
    union all
    select 'revoked', m.revoked_at from machine_clients m
     where c.proposed_by_type = 'm2m' and m.org_id = c.org_id and m.id = c.proposed_by_id and m.revoked_at is not null
    union all
    select 'removed', (
      select max(a.created_at) from audit_entries a
       where a.org_id = c.org_id and a.resource_id = c.proposed_by_id and a.action = 'member.removed')
     where c.proposed_by_type = 'user' and not exists (
      select from memberships m where m.org_id = c.org_id and m.user_id = c.proposed_by_id)
  ) ended on true`

/** How and when the proposer of a change lost access. Both are null while the proposer has access. */
export const findProposerEnd = async (db: Sql, { orgId, id }: Pick<Change, 'orgId' | 'id'>) => {
  const row = await db.row<ProposerEnd>(
    `select proposer_ended, proposer_ended_at from change_requests c ${proposerEnd} where c.org_id = $1 and c.id = $2`,
    [orgId, id],
  )
  return row ?? { proposerEnded: null, proposerEndedAt: null }
}

type ProposerEnd = Pick<Static<typeof ShownChange>, 'proposerEnded' | 'proposerEndedAt'>

export const listChanges = (
  db: Sql,
  org: Org,
  principal: Principal,
  filter: Filter,
  now: string,
  cursor: KeysetCursor,
) =>
  db.rows<ChangeRow & ProposerEnd & { stale: boolean }>(
    `select ${changeColumns}, ${isStale('$4')} as stale, proposer_ended, proposer_ended_at
       from change_requests c
       join environments e on e.org_id = c.org_id and e.id = c.environment_id
       left join key_grants k on ${ownGrant('$2', '$3', '$4')}
       ${proposerEnd}
      where c.org_id = $1 and ${notExpired('$4')}
        and ($5::text is null or c.status = $5) and ($6::text is null or c.environment_id = $6)
        and ($11::text is null or c.group_id = $11) and ($12::text is null or e.application_id = $12)
        and ($7::timestamptz is null or (c.created_at, c.id) < ($7, $8)) and ${inReachOf('$10')}
      order by c.created_at desc, c.id desc limit $9`,
    [
      org.id,
      principal.type,
      principal.id,
      now,
      filter.status,
      filter.envId,
      cursor.at,
      cursor.id,
      cursor.take,
      boundTo(principal),
      filter.groupId,
      filter.applicationId,
    ],
  )

/**
 * Locks the changes of one decision: a group, or a single change. Nobody else decides on them until this transaction
 * ends. The ciphertext is included for every caller. Deletions come first, because they free quota.
 */
export const lockDecided = (db: Tx, { orgId, id, groupId }: Change) =>
  db.rows<Change>(
    `select org_id, id, environment_id, secret_name, action, ciphertext, restore_version, keep_for, deleted_secret_id,
            base_secret_id, base_state, base_version, note, group_id, group_size, proposed_by_type, proposed_by_id, required_approvals, allow_self_approval, status,
            created_at, closed_at
       from change_requests
      where org_id = $1 and (id = $2 or group_id = $3)
      order by action <> 'delete', secret_name for update`,
    [orgId, id, groupId],
  )

/** Closes changes. A re-key loses its body, because only an open one can be applied or compared. */
export const closeChanges = (db: Tx, { orgId }: { orgId: string }, ids: string[], status: Status, now: string) =>
  db.rows(
    `with forgotten as (
       delete from proposed_rekeys where org_id = $1 and change_request_id = any($2::text[])
     )
     update change_requests set status = $3, closed_at = $4 where org_id = $1 and id = any($2::text[])`,
    [orgId, ids, status, now],
  )

export interface Review {
  id: string
  reviewerId: string
  decision: 'approve' | 'reject'
  comment: string | null
  createdAt: string
}

/** Replaces an earlier vote of the reviewer. */
export const putReview = (db: Tx, change: Change, review: Review) =>
  db.rows(
    `insert into change_reviews (org_id, id, change_request_id, reviewer_id, decision, comment, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (org_id, change_request_id, reviewer_id) do update
       set id = excluded.id, decision = excluded.decision, comment = excluded.comment, created_at = excluded.created_at`,
    [change.orgId, review.id, change.id, review.reviewerId, review.decision, review.comment, review.createdAt],
  )

export const listReviews = (db: Sql, change: Change) =>
  db.rows<Review>(
    `select id, reviewer_id, decision, comment, created_at from change_reviews
      where org_id = $1 and change_request_id = $2 order by created_at, id`,
    [change.orgId, change.id],
  )

/** Lists reviewers who may still approve: the vote of someone who has lost the admin role does not count. */
export async function listApprovers(db: Tx, change: Change): Promise<string[]> {
  const rows = await db.rows<{ reviewerId: string }>(
    `select r.reviewer_id
       from change_reviews r
       join memberships m on m.org_id = r.org_id and m.user_id = r.reviewer_id and m.role in ('owner', 'admin')
      where r.org_id = $1 and r.change_request_id = $2 and r.decision = 'approve'
      order by r.created_at, r.id`,
    [change.orgId, change.id],
  )
  return rows.map(({ reviewerId }) => reviewerId)
}

export async function countOpen(db: Sql, env: Env): Promise<number> {
  const row = await db.row<{ open: number }>(
    `select count(*) as open from change_requests where org_id = $1 and environment_id = $2 and status = 'open'`,
    [env.orgId, env.id],
  )
  return row?.open ?? 0
}

/** Lists the votes that approve or reject a change, with the people who may still vote; the newest comes last. */
export const listVotes = (db: Tx, { orgId, id }: Pick<Proposed, 'orgId' | 'id'>, decision: Review['decision']) =>
  db.rows<{ id: string; name: string | null; email: string | null; comment: string | null }>(
    `select u.id, u.name, u.email, r.comment
       from change_reviews r
       join memberships m on m.org_id = r.org_id and m.user_id = r.reviewer_id and m.role in ('owner', 'admin')
       join users u on u.id = r.reviewer_id
      where r.org_id = $1 and r.change_request_id = $2 and r.decision = $3
      order by r.created_at, r.id`,
    [orgId, id, decision],
  )

/** The fields of a change that its events need. */
export type Proposed = Pick<
  Change,
  | 'orgId'
  | 'id'
  | 'environmentId'
  | 'secretName'
  | 'action'
  | 'groupId'
  | 'groupSize'
  | 'proposedByType'
  | 'proposedById'
>

/** Closes the open changes of an environment, except the one that is being applied. */
export const supersedeOpen = (db: Tx, env: Env, now: string, appliedId: string | null) =>
  db.rows<Proposed>(
    `with closed as (
       update change_requests set status = 'superseded', closed_at = $3
        where org_id = $1 and environment_id = $2 and status = 'open' and id is distinct from $4
       returning org_id, id, environment_id, secret_name, action, group_id, group_size, proposed_by_type, proposed_by_id
     ), forgotten as (
       delete from proposed_rekeys p using closed c where p.org_id = c.org_id and p.change_request_id = c.id
     )
     select * from closed`,
    [env.orgId, env.id, now, appliedId],
  )
