import type { Body } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import type { tasks } from '@skerry/contract/tasks/endpoints'
import type { Sql, Tx } from '../../db/database.ts'
import type { Agent } from '../agents/scope.ts'

export type ReportedCell = Body<typeof tasks.report>['entries'][number]

/** The count of a combination of host, method, decision and rule, over many hours. */
export interface Cell extends Pick<ReportedCell, 'host' | 'method' | 'decision' | 'ruleIndex'> {
  policyVersion: number | null
  count: number
  firstAt: string
  lastAt: string
}

/** Adds up the counts by name in an update. */
const added = (column: 'secrets' | 'redactions') =>
  `(select coalesce(jsonb_object_agg(s.name, s.total), '{}')
      from (select name, sum(n::bigint) as total
              from (select * from jsonb_each_text(a.${column})
                    union all select * from jsonb_each_text(excluded.${column})) as counted(name, n)
             group by name) as s)`

export const addCells = (
  db: Tx,
  { orgId, id }: Agent,
  report: { hour: string; at: string; policyVersion: number | null; cells: ReportedCell[] },
) =>
  db.rows(
    `insert into agent_activity as a (org_id, agent_id, hour, host, method, decision, rule_index, policy_version, count,
                                      secrets, redactions, first_at, last_at)
     select $1, $2, $3::timestamptz, c.host, c.method, c.decision, c."ruleIndex", $5::integer, c.count, c.secrets,
            c.redactions, $4::timestamptz, $4::timestamptz
       from jsonb_to_recordset($6::jsonb)
         as c(host text, method text, decision text, "ruleIndex" integer, count bigint, secrets jsonb,
              redactions jsonb)
      order by c.host, c.method, c.decision, c."ruleIndex"
     on conflict (org_id, agent_id, hour, host, method, decision, rule_index, policy_version) do update
       set count = a.count + excluded.count,
           secrets = ${added('secrets')},
           redactions = ${added('redactions')},
           first_at = least(a.first_at, excluded.first_at), last_at = greatest(a.last_at, excluded.last_at)`,
    [orgId, id, report.hour, report.at, report.policyVersion, JSON.stringify(report.cells)],
  )

export const countCells = async (db: Tx, { orgId, id }: Agent, hour: string): Promise<number> =>
  (
    await db.row<{ cells: number }>(
      'select count(*)::int as cells from agent_activity where org_id = $1 and agent_id = $2 and hour = $3',
      [orgId, id, hour],
    )
  )?.cells ?? 0

const dimensions = 'a.host, a.method, a.decision, a.rule_index, a.policy_version'
const ofAgentSince = 'a.org_id = $1 and a.agent_id = $2 and a.last_at >= $3'

/** Lists the most frequent cells. The sums in the answer include all cells. */
export const listCells = (db: Sql, { orgId, id }: Agent, since: string) =>
  db.rows<Cell>(
    `select ${dimensions}, sum(a.count)::float8 as count, min(a.first_at) as first_at, max(a.last_at) as last_at
       from agent_activity a where ${ofAgentSince}
      group by ${dimensions} order by count desc, ${dimensions} limit $4`,
    [orgId, id, since, limits.listMax],
  )

export const listNameCounts = (db: Sql, { orgId, id }: Agent, since: string) =>
  db.rows<Cell & { kind: 'secrets' | 'redactions'; name: string }>(
    `select ${dimensions}, k.kind, s.name, sum(s.n::bigint)::float8 as count
       from agent_activity a, lateral (values ('secrets', a.secrets), ('redactions', a.redactions)) as k(kind, counts),
            jsonb_each_text(k.counts) as s(name, n)
      where ${ofAgentSince}
      group by ${dimensions}, k.kind, s.name order by s.name`,
    [orgId, id, since],
  )

export async function sumCells(db: Sql, { orgId, id }: Agent, since: string) {
  const row = await db.row<{ total: number; allowed: number; refused: number; hosts: number }>(
    `select coalesce(sum(a.count), 0)::float8 as total,
            coalesce(sum(a.count) filter (where a.decision = 'allow'), 0)::float8 as allowed,
            coalesce(sum(a.count) filter (where a.decision <> 'allow'), 0)::float8 as refused,
            count(distinct a.host)::int as hosts
       from agent_activity a where ${ofAgentSince}`,
    [orgId, id, since],
  )
  return row ?? { total: 0, allowed: 0, refused: 0, hosts: 0 }
}

export const listUsedRules = (db: Sql, { orgId, id }: Agent, since: string) =>
  db.rows<{ policyVersion: number; ruleIndex: number }>(
    `select distinct a.policy_version, a.rule_index from agent_activity a
      where ${ofAgentSince} and a.decision = 'allow' and a.rule_index is not null and a.policy_version is not null`,
    [orgId, id, since],
  )

/** Lists, for the busiest hosts, how often each decision came in each hour or day of UTC. */
export const listTimeline = (db: Sql, { orgId, id }: Agent, since: string, unit: 'hour' | 'day') =>
  db.rows<Pick<ReportedCell, 'host' | 'decision'> & { startsAt: string; count: number }>(
    `with busiest as (select a.host from agent_activity a where ${ofAgentSince}
                       group by a.host order by sum(a.count) desc, a.host limit $4)
     select date_trunc($5, a.hour, 'UTC') as starts_at, a.host, a.decision, sum(a.count)::float8 as count
       from agent_activity a join busiest using (host) where ${ofAgentSince} and a.count > 0
      group by 1, 2, 3 order by 2, 3, 1`,
    [orgId, id, since, limits.activityTimelineHosts, unit],
  )

/** Returns how many rows were deleted. */
export const deleteActivity = async (db: Sql, before: string, atOnce: number): Promise<number> =>
  (
    await db.rows(
      `delete from agent_activity where ctid in (select ctid from agent_activity where hour < $1 limit $2)
       returning hour`,
      [before, atOnce],
    )
  ).length
