import {
  type Family,
  type Feature,
  families,
  features,
  findPlan,
  type Metric,
  metrics,
  type Plan,
  plansOf,
} from '@skerry/contract/billing/plans'
import type { Sql } from '../../db/database.ts'
import { type Holding, listHoldingsOfEach, listOverridesOfEach, type Override } from './store.ts'

/** The plan of an organization in a family, and the sources of plans. */
export interface Standing {
  plan: Plan
  subscription: Holding | null
  promo: Holding | null
}

export interface Entitled {
  standings: ReadonlyMap<Family, Standing>
  overrides: readonly Override[]
}

/** Statuses of a subscription whose plan is in force. The provider sends a reminder for a late payment. */
const paid = new Set(['active', 'trialing', 'past_due'])

export const isInForce = ({ source, status, endsAt }: Holding, now: string): boolean =>
  source === 'subscription' ? paid.has(status ?? '') : endsAt === null || endsAt > now

export async function entitledOf(db: Sql, org: { id: string }, now: string): Promise<Entitled> {
  return (await entitledOfEach(db, [org.id], now))(org.id)
}

/** Reads many organizations with as many statements as one. */
export async function entitledOfEach(db: Sql, orgIds: readonly string[], now: string) {
  const holdings = Map.groupBy(await listHoldingsOfEach(db, orgIds), ({ orgId }) => orgId)
  const overrides = Map.groupBy(await listOverridesOfEach(db, orgIds), ({ orgId }) => orgId)
  return (orgId: string): Entitled => ({
    standings: new Map(families.map((family) => [family, standingIn(family, holdings.get(orgId) ?? [], now)])),
    overrides: (overrides.get(orgId) ?? []).map(({ orgId: _, ...override }) => override),
  })
}

function standingIn(family: Family, holdings: readonly Holding[], now: string): Standing {
  const own = holdings.filter((one) => one.family === family)
  const inForce = own.filter((one) => isInForce(one, now))
  const held = new Set(inForce.map(({ plan }) => plan))
  const plan = plansOf(family).findLast(({ id }) => held.has(id)) ?? freePlanOf(family)
  const of = (from: readonly Holding[], source: Holding['source']) => from.find((one) => one.source === source) ?? null
  return { plan, subscription: of(own, 'subscription'), promo: of(inForce, 'promo') }
}

export const freePlanOf = (family: Family): Plan => plansOf(family)[0] as Plan

export const planIn = ({ standings }: Entitled, family: Family): Plan =>
  standings.get(family)?.plan ?? freePlanOf(family)

/** Returns how much of a metric is included; null means no limit. */
export function includedOf(entitled: Entitled, metric: Metric): number | null {
  const override = entitled.overrides.find(({ key }) => key === metric)
  if (override) return override.value as number | null
  return planIn(entitled, metrics[metric].family).included[metric] ?? null
}

export function isGranted(entitled: Entitled, feature: Feature): boolean {
  const override = entitled.overrides.find(({ key }) => key === keyOf(feature))
  return override ? override.value === true : planIn(entitled, features[feature].family).features.includes(feature)
}

/** The key of a feature, in the API and among the overrides. */
export const keyOf = (feature: Feature): string => `feature.${feature}`

/** Whether one plan of a family is above another. */
export const isAbove = (family: Family, one: string, other: string): boolean => rank(family, one) > rank(family, other)

const rank = (family: Family, id: string): number => plansOf(family).findIndex((plan) => plan.id === id)

/** Finds a plan that costs something, by its family and id. */
export function findPaidPlan(family: string, id: string): Plan | undefined {
  const plan = findPlan(family, id)
  return plan && plan !== freePlanOf(plan.family) ? plan : undefined
}
