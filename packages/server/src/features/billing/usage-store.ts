import type { Metric } from '@skerry/contract/billing/plans'
import type { Sql } from '../../db/database.ts'

/** Since the first day of the month of `$2`, in UTC; what a server has yet to write down comes at most seconds later. */
const isInMonth = `day >= date_trunc('month', $2::timestamptz at time zone 'UTC')::date`

const inMonth = (metric: Metric) =>
  `select coalesce(sum(quantity), 0) from usage_counts where org_id = $1 and metric = '${metric}' and ${isInMonth}`

/** How each metric is counted: a statement about organization $1 at the instant $2. */
const counts: Record<Metric, string> = {
  // Who was invited has a seat: nobody is turned away who takes up an invitation.
  members: `select (select count(*) from memberships where org_id = $1)
                 + (select count(*) from invitations where org_id = $1 and expires_at > $2)`,
  apps: 'select count(*) from applications where org_id = $1',
  environments: 'select count(*) from environments where org_id = $1 and parent_environment_id is null',
  branches: `select count(*) from environments where org_id = $1 and parent_environment_id is not null
                and (expires_at is null or expires_at > $2)`,
  secrets: 'select count(*) from secrets where org_id = $1',
  service_tokens: `select count(*) from service_tokens t where org_id = $1 and revoked_at is null and deleted_at is null
                      and (expires_at is null or expires_at > $2)
                      and not exists (select from honey_tokens h where h.org_id = t.org_id and h.token_id = t.id)`,
  honey_tokens: 'select count(*) from honey_tokens where org_id = $1',
  resolves: inMonth('resolves'),
  audit_days: `select coalesce(extract(day from $2::timestamptz - min(created_at))::integer, 0)
                 from audit_entries where org_id = $1`,
  'sync.connections': 'select count(*) from sync_connections where org_id = $1',
  'leases.active': `select count(*) from leases where org_id = $1 and status in ('pending', 'creating', 'active', 'revoking')`,
  'rotation.policies': 'select count(*) from rotation_policies where org_id = $1',
  'kms.keys': 'select count(*) from kms_keys where org_id = $1 and deleted_at is null',
  agents: 'select count(*) from agents where org_id = $1',
  'vault.projects': 'select count(*) from vault_projects where org_id = $1',
  // A link that can still be used has its place: nobody is turned away who goes through with it.
  'vault.connections.max': `select (select count(*) from vault_connections where org_id = $1 and status <> 'revoked')
                                 + (select count(*) from vault_sessions where org_id = $1 and status = 'pending'
                                       and purpose = 'connect' and expires_at > $2)`,
  'vault.releases': inMonth('vault.releases'),
}

/** How much there is of one thing. */
export async function countUsed(db: Sql, org: { id: string }, metric: Metric, now: string): Promise<number> {
  const row = await db.row<{ used: number }>(
    `select (${counts[metric]})::bigint as used where $2::timestamptz is not null`,
    [org.id, now],
  )
  return Number(row?.used ?? 0)
}

/** Of a metric that is counted by months: those of the organizations that have used any of it. */
export const countMonthOfEach = (db: Sql, orgIds: readonly string[], metric: Metric, now: string) =>
  db.rows<{ orgId: string; used: number }>(
    `select org_id, sum(quantity)::bigint as used from usage_counts
      where org_id = any($1::text[]) and metric = $3 and ${isInMonth} group by org_id`,
    [orgIds, now, metric],
  )

/** How much there is of everything, in one look. */
export async function countAllUsed(db: Sql, org: { id: string }, now: string): Promise<Map<Metric, number>> {
  const each = Object.entries(counts).map(([metric, sql]) => `select '${metric}' as metric, (${sql})::bigint as used`)
  const rows = await db.rows<{ metric: Metric; used: number }>(
    `select * from (${each.join(' union all ')}) as counted where $2::timestamptz is not null`,
    [org.id, now],
  )
  return new Map(rows.map(({ metric, used }) => [metric, Number(used)]))
}

/** Of two that take the last one of something at once, the second waits, and then finds none left. */
export const lockMetric = (db: Sql, org: { id: string }, metric: Metric) =>
  db.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`quota ${org.id} ${metric}`])
