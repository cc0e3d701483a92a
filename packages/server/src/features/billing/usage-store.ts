import { type Metric, type MonthlyMetric, metrics } from '@skerry/contract/billing/plans'
import type { Sql } from '../../db/database.ts'
import type { UsageQueries } from '../../http/context.ts'

/** Since the first day of the month of `$2`, in UTC. Servers store their counts some seconds later at most. */
const isInMonth = `day >= date_trunc('month', $2::timestamptz at time zone 'UTC')::date`

const inMonth = (metric: MonthlyMetric) =>
  `select coalesce(sum(quantity), 0) from usage_counts where org_id = $1 and metric = '${metric}' and ${isInMonth}`

const queryOf = (queries: UsageQueries, metric: Metric): string =>
  isMonthly(metric) ? inMonth(metric) : queries[metric]

const isMonthly = (metric: Metric): metric is MonthlyMetric => metrics[metric].per === 'month'

/** The quantity of one metric. */
export async function countUsed(
  db: Sql,
  queries: UsageQueries,
  org: { id: string },
  { metric, now }: { metric: Metric; now: string },
): Promise<number> {
  const row = await db.row<{ used: number }>(
    `select (${queryOf(queries, metric)})::bigint as used where $2::timestamptz is not null`,
    [org.id, now],
  )
  return Number(row?.used ?? 0)
}

/** Counts a monthly metric. Lists only organizations that have used it. */
export const countMonthOfEach = (db: Sql, orgIds: readonly string[], metric: Metric, now: string) =>
  db.rows<{ orgId: string; used: number }>(
    `select org_id, sum(quantity)::bigint as used from usage_counts
      where org_id = any($1::text[]) and metric = $3 and ${isInMonth} group by org_id`,
    [orgIds, now, metric],
  )

/** The quantities of all metrics, in one query. */
export async function countAllUsed(
  db: Sql,
  queries: UsageQueries,
  org: { id: string },
  now: string,
): Promise<Map<Metric, number>> {
  const each = (Object.keys(metrics) as Metric[]).map(
    (metric) => `select '${metric}' as metric, (${queryOf(queries, metric)})::bigint as used`,
  )
  const rows = await db.rows<{ metric: Metric; used: number }>(
    `select * from (${each.join(' union all ')}) as counted where $2::timestamptz is not null`,
    [org.id, now],
  )
  return new Map(rows.map(({ metric, used }) => [metric, Number(used)]))
}

/** Locks a metric, so that the second of two callers waits and then finds no quota left. */
export const lockMetric = (db: Sql, org: { id: string }, metric: Metric) =>
  db.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`quota ${org.id} ${metric}`])
