import { type Feature, features, type Metric } from '@skerry/contract/billing/plans'
import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { entitledOf, entitledOfEach, includedOf, isGranted, planIn } from './standing.ts'
import { countMonthOfEach, countUsed, lockMetric } from './usage-store.ts'

type QuotaDeps = Pick<Context, 'config' | 'now' | 'usageQueries'>

/**
 * Refuses one more item if the plan includes no more. Call it in the transaction that adds the item, so that only one
 * of two callers gets the last one. Returns how many more are free, or Infinity if there is no limit.
 */
export async function checkQuota(context: QuotaDeps, db: Sql, org: { id: string }, metric: Metric): Promise<number> {
  if (!context.config.plansEnforced) return Number.POSITIVE_INFINITY
  const now = context.now().toISOString()
  const entitled = await entitledOf(db, org, now)
  const included = includedOf(entitled, metric)
  if (included === null) return Number.POSITIVE_INFINITY
  await lockMetric(db, org, metric)
  const used = await countUsed(db, context.usageQueries, org, { metric, now })
  if (used < included) return included - used
  throw quotaExceeded(metric, included, used)
}

export const quotaExceeded = (metric: Metric, included: number, used: number) =>
  fail('quota_exceeded', quotaWords(metric, included, used))

export const quotaWords = (metric: Metric, included: number, used: number): string =>
  `${metric}: the plan includes ${included}, and ${used} are used`

/** Refuses a feature that the plan does not include. */
export async function checkFeature(context: Context, db: Sql, org: { id: string }, feature: Feature): Promise<void> {
  if (!context.config.plansEnforced) return
  const entitled = await entitledOf(db, org, instant(context))
  if (isGranted(entitled, feature)) return
  const { name } = planIn(entitled, features[feature].family)
  throw fail('quota_exceeded', `feature.${feature}: the plan ${name} does not include it`)
}

/** Finds organizations that have used up their monthly quota, by the counts that servers have stored. */
export async function findOverMonth(
  context: Pick<Context, 'config' | 'db' | 'now'>,
  orgIds: readonly string[],
  metric: Metric,
): Promise<Map<string, { included: number; used: number }>> {
  const over = new Map<string, { included: number; used: number }>()
  if (!context.config.plansEnforced || orgIds.length === 0) return over
  const now = context.now().toISOString()
  const entitled = await entitledOfEach(context.db, orgIds, now)
  for (const { orgId, used } of await countMonthOfEach(context.db, orgIds, metric, now)) {
    const included = includedOf(entitled(orgId), metric)
    if (included !== null && used >= included) over.set(orgId, { included, used })
  }
  return over
}
