import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { limits } from '@skerry/contract/limits'
import type { tasks } from '@skerry/contract/tasks/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { livePolicy, signedRules } from '../agents/policies.ts'
import type { OnAgent } from '../agents/scope.ts'
import {
  addCells,
  type Cell,
  countCells,
  listCells,
  listNameCounts,
  listTimeline,
  listUsedRules,
  type ReportedCell,
  sumCells,
} from './activity-store.ts'

/** Adds counts to the stored ones. A disabled agent may report too, because what it did before is still evidence. */
export async function report(input: In<typeof tasks.report, OnAgent>): Out<typeof tasks.report> {
  const { db, agent, body, now } = input
  const { windowStart, entries, policyVersion = null } = body
  const empty = entries.findIndex(({ count, redactions }) => count === 0 && redactions === undefined)
  if (empty !== -1) throw fail('invalid_request', `body.entries[${empty}].count: 0, and no redactions beside it`)
  const awaySeconds = Math.abs(Date.parse(windowStart) - Date.parse(now)) / 1000
  if (awaySeconds > limits.activityWindowSeconds)
    throw fail('invalid_request', 'body.windowStart: more than 25 hours from now')
  const hour = `${windowStart.slice(0, 13)}:00:00.000Z`
  await addCells(db, agent, { hour, at: windowStart, policyVersion, cells: sumUp(entries) })
  if ((await countCells(db, agent, hour)) > limits.activityCellsPerHour)
    throw fail('conflict', `body.entries: this hour would have more than ${limits.activityCellsPerHour} cells`)
  return { accepted: entries.length }
}

/** Merges entries with the same dimensions, because a statement may change a row only once. */
function sumUp(entries: ReportedCell[]): ReportedCell[] {
  const cells = new Map<string, ReportedCell>()
  for (const { host, method, decision, ruleIndex, count, secrets = {}, redactions = {} } of entries) {
    const key = JSON.stringify([host, method, decision, ruleIndex])
    const before = cells.get(key)
    cells.set(key, {
      ...{ host, method, decision, ruleIndex },
      count: (before?.count ?? 0) + count,
      secrets: addUp(before?.secrets, secrets),
      redactions: addUp(before?.redactions, redactions),
    })
  }
  return [...cells.values()]
}

function addUp(one: Record<string, number> = {}, other: Record<string, number>): Record<string, number> {
  const sum = new Map(Object.entries(one))
  for (const [name, count] of Object.entries(other)) sum.set(name, (sum.get(name) ?? 0) + count)
  return Object.fromEntries(sum)
}

export async function activity(input: In<typeof tasks.activity, OnAgent>): Out<typeof tasks.activity> {
  const { db, agent, query, now } = input
  const days = query.days ?? limits.activityDaysDefault
  const since = new Date(Date.parse(now) - days * 86_400_000).toISOString()
  const cells = await listCells(db, agent, since)
  const names = await listNameCounts(db, agent, since)
  const byCell = Map.groupBy(names, (one) => `${one.kind} ${placeOf(one)}`)
  const live = await livePolicy(db, agent)
  const rules = await usedRules(input, since)
  const permitted = [...new Set(live?.rules.flatMap((rule) => rule.allow))].sort()
  const injected = names.filter(({ kind, decision }) => kind === 'secrets' && decision === 'allow')
  const used = new Set(injected.map(({ name }) => name))
  return {
    activity: cells.map((cell) => ({
      ...cell,
      secrets: countsOf(byCell.get(`secrets ${placeOf(cell)}`)),
      redactions: countsOf(byCell.get(`redactions ${placeOf(cell)}`)),
    })),
    timeline: await listTimeline(db, agent, since, days <= limits.activityHourlyDays ? 'hour' : 'day'),
    summary: {
      ...(await sumCells(db, agent, since)),
      redacted: names.reduce((sum, { kind, count }) => sum + (kind === 'redactions' ? count : 0), 0),
      unusedRules: (live?.rules ?? []).flatMap((rule, at) => (rules.has(keyOf(rule)) ? [] : [at])),
      unusedSecrets: permitted.filter((name) => !used.has(name)),
      days,
    },
  }
}

/** Returns the rules that let something pass, whatever their index was in the policy of that time. */
async function usedRules(
  { db, agent }: Pick<In<typeof tasks.activity, OnAgent>, 'db' | 'agent'>,
  since: string,
): Promise<Set<string>> {
  const places = await listUsedRules(db, agent, since)
  const rules = await signedRules(db, agent, [...new Set(places.map((place) => place.policyVersion))])
  const found = places.map(({ policyVersion, ruleIndex }) => rules.get(policyVersion)?.[ruleIndex])
  return new Set(found.filter((rule) => rule !== undefined).map(keyOf))
}

/** Identifies a rule by what it matches. Another label or secret does not make it another rule. */
const keyOf = ({ host, methods, paths }: PolicyRule): string =>
  JSON.stringify([host, [...methods].sort(), [...paths].sort()])

const placeOf = ({ host, method, decision, ruleIndex, policyVersion }: Cell): string =>
  JSON.stringify([host, method, decision, ruleIndex, policyVersion])

const countsOf = (secrets: { name: string; count: number }[] = []): Record<string, number> =>
  Object.fromEntries(secrets.map(({ name, count }) => [name, count]))
