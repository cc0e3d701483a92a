import { Type } from 'typebox'
import { Instant, Nullable, Strict } from '../schema.ts'

export const Family = Type.Union([Type.Literal('platform'), Type.Literal('vault')], {
  description: 'The plan family. An organization has one plan in each family',
})

const Price = Strict({
  amount: Type.Integer({ description: 'In the smallest unit of the currency' }),
  currency: Type.String({ description: 'ISO 4217, lowercase' }),
  interval: Type.String({ description: '`month` or `year`' }),
})

export const PlanView = Strict({
  id: Type.String(),
  name: Type.String(),
  family: Family,
  price: Nullable(Price),
})

export const Subscription = Strict({
  family: Family,
  plan: Type.String(),
  status: Type.String({
    description: 'The state as the payment provider names it, for example `active`, `past_due` or `canceled`',
  }),
  currentPeriodEnd: Nullable(Instant),
})

export const Promo = Strict({ code: Type.String(), plan: Type.String(), endsAt: Nullable(Instant) })

export const BillingView = Strict({
  subscription: Nullable(Subscription),
  plan: PlanView,
  promo: Nullable(Promo),
  entitlements: Type.Array(
    Strict({
      key: Type.String({ description: 'A feature: `feature.<name>`' }),
      plan: Type.String({ description: 'The plan that the organization has in the feature’s family' }),
      granted: Type.Boolean({
        description: 'True if the plan or an override includes the feature. Always true if limits are not enforced',
      }),
    }),
  ),
  usage: Type.Array(
    Strict({
      key: Type.String(),
      metric: Type.String({
        description: 'How the metric is counted: `total`, `month` (since its first day in UTC) or `days`',
      }),
      label: Type.String(),
      quantity: Nullable(Type.Integer({ description: 'null if the metric cannot be measured' })),
      included: Nullable(Type.Integer({ description: 'null means no limit' })),
      available: Type.Boolean({ description: 'True if the metric can be measured' }),
    }),
  ),
  overrides: Type.Array(
    Strict({
      key: Type.String({ description: 'A metric, or `feature.<name>`' }),
      value: Nullable(Type.Union([Type.Integer(), Type.Boolean()])),
      reason: Type.String(),
    }),
    { description: 'Exceptions from the plan, which only the operator of the server can set' },
  ),
  enforced: Type.Boolean({ description: 'False if the server shows the limits and does not enforce them' }),
  manage: Strict({
    checkout: Type.Boolean({ description: 'True if the server can sell a plan' }),
    checkoutFamilies: Type.Array(Family),
    portal: Type.Boolean({ description: 'True if there are payments to manage' }),
  }),
  families: Type.Array(Strict({ plan: PlanView, subscription: Nullable(Subscription), promo: Nullable(Promo) })),
})
