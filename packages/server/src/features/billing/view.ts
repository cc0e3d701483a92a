import {
  type Family,
  type Feature,
  families,
  features,
  type Metric,
  metrics,
  plansOf,
} from '@skerry/contract/billing/plans'
import type { BillingView, PlanView } from '@skerry/contract/billing/schemas'
import type { Static } from 'typebox'
import type { Config } from '../../config.ts'
import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { entitledOf, includedOf, isGranted, isInForce, keyOf, planIn, type Standing } from './standing.ts'
import { findCustomer, type Holding } from './store.ts'
import { countAllUsed } from './usage-store.ts'

export async function viewOf(context: Context, db: Sql, org: { id: string }): Promise<Static<typeof BillingView>> {
  const { config } = context
  const now = instant(context)
  const entitled = await entitledOf(db, org, now)
  const enforced = config.plansEnforced
  const standings = families.map((family) => viewOfStanding(entitled.standings.get(family) as Standing, now))
  const used = await countAllUsed(db, context.usageQueries, org, now)
  const usage = Object.entries(metrics).map(([key, { label, per }]) => {
    const metric = key as Metric
    const included = includedOf(entitled, metric)
    return { key, metric: per, label, quantity: used.get(metric) ?? 0, included, available: true }
  })
  const checkoutFamilies = soldFamilies(config)
  return {
    ...(standings[0] as (typeof standings)[0]),
    entitlements: Object.entries(features).map(([name, { family }]) => ({
      key: keyOf(name as Feature),
      plan: planIn(entitled, family).id,
      granted: !enforced || isGranted(entitled, name as Feature),
    })),
    usage,
    overrides: [...entitled.overrides],
    enforced,
    manage: {
      checkout: checkoutFamilies.length > 0,
      checkoutFamilies,
      portal: config.stripe !== null && (await findCustomer(db, org)) !== undefined,
    },
    families: standings,
  }
}

/** Families with at least one price on this server. */
const soldFamilies = ({ stripe }: Config): Family[] =>
  families.filter((family) => plansOf(family).some(({ id }) => stripe?.prices[`${family}.${id}`] !== undefined))

function viewOfStanding({ plan, subscription, promo }: Standing, now: string) {
  const { id, name, family } = plan
  const isPaid = subscription !== null && subscription.plan === id && isInForce(subscription, now)
  return {
    plan: { id, name, family, price: isPaid ? priceOf(subscription) : null },
    subscription: subscription && {
      family,
      plan: subscription.plan,
      status: subscription.status ?? '',
      currentPeriodEnd: subscription.endsAt,
    },
    promo: promo && { code: promo.code ?? '', plan: promo.plan, endsAt: promo.endsAt },
  }
}

/** The price that the payment provider charges. */
function priceOf({ amount, currency, interval }: Holding): Static<typeof PlanView>['price'] {
  return amount === null || currency === null || interval === null ? null : { amount, currency, interval }
}
