import type { billing } from '@skerry/contract/billing/endpoints'
import { type Family, findPlan, type Plan, plansOf } from '@skerry/contract/billing/plans'
import type { Context } from '../../http/context.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InOrg } from '../orgs/scope.ts'
import { openPayments, type Payments } from './payments.ts'
import { lockPromo, type PromoCode, redeemPromo } from './promo-store.ts'
import { entitledOf, freePlanOf, isAbove, isInForce, planIn } from './standing.ts'
import {
  endHoldings,
  findCustomer,
  findOrgNames,
  insertCustomer,
  listHoldings,
  lockPlans,
  saveHolding,
} from './store.ts'
import { viewOf } from './view.ts'

export const get = ({ context, db, org }: In<typeof billing.get, InOrg>): Out<typeof billing.get> =>
  viewOf(context, db, org)

export async function checkout(input: In<typeof billing.checkout, InOrg>): Out<typeof billing.checkout> {
  const { context, db, org, body, now, transaction } = input
  const payments = needPayments(context)
  const { family } = body
  const holdings = await listHoldings(db, org)
  const isPaidFor = holdings.some(
    (one) => one.family === family && one.source === 'subscription' && isInForce(one, now),
  )
  if (isPaidFor) throw fail('conflict', 'a plan of this family is already paid for; change it in the portal')
  const present = planIn(await entitledOf(db, org, now), family)
  const plan = choosePlan(context, family, present, body.plan)
  const customerId = await customerOf(input, payments)
  const { url } = await payments.checkout({ orgId: org.id, customerId, plan, returnUrl: await returnUrl(context, org) })
  await transaction(async ({ audit }) => audit('billing.checkout_started', org.id, { family, plan: plan.id }))
  return { url }
}

function choosePlan({ config }: Context, family: Family, present: Plan, wanted: string | undefined): Plan {
  const isSold = ({ id }: Plan) => config.stripe?.prices[`${family}.${id}`] !== undefined
  if (wanted === undefined) {
    const next = plansOf(family).find((plan) => isAbove(family, plan.id, present.id) && isSold(plan))
    if (!next) throw fail('conflict', `no plan of the family ${family} above ${present.name} is for sale`)
    return next
  }
  const plan = findPlan(family, wanted)
  if (!plan || !isSold(plan)) throw fail('invalid_request', 'body.plan: is not for sale')
  if (!isAbove(family, plan.id, present.id)) throw fail('conflict', `the plan is ${present.name} already`)
  return plan
}

/** Creates the customer at the provider on the first checkout. Two checkouts at once get the same customer. */
async function customerOf(
  { db, org, now, transaction }: In<typeof billing.checkout, InOrg>,
  payments: Payments,
): Promise<string> {
  const known = await findCustomer(db, org)
  if (known) return known.customerId
  const made = await payments.makeCustomer({ orgId: org.id, name: (await findOrgNames(db, org))?.name ?? '' })
  await transaction(({ db: tx }) => insertCustomer(tx, org, made, now))
  return (await findCustomer(db, org))?.customerId ?? made
}

export async function portal(input: In<typeof billing.portal, InOrg>): Out<typeof billing.portal> {
  const { context, db, org, transaction } = input
  const payments = needPayments(context)
  const customer = await findCustomer(db, org)
  if (!customer) throw fail('conflict', 'nothing has been paid for yet')
  const { url } = await payments.portal({ customerId: customer.customerId, returnUrl: await returnUrl(context, org) })
  await transaction(async ({ audit }) => audit('billing.portal_opened', org.id))
  return { url }
}

/** Cancels at the provider first, so that a plan that could not be cancelled there is not shown as ended here. */
export async function cancel(input: In<typeof billing.cancel, InOrg>): Out<typeof billing.cancel> {
  const { context, db, org, now, transaction } = input
  const inForce = (await listHoldings(db, org)).filter((one) => isInForce(one, now))
  if (inForce.length === 0) throw fail('conflict', 'every plan is already free')
  const payments = openPayments(context)
  for (const { subscriptionId } of inForce) if (subscriptionId) await payments?.cancel(subscriptionId)
  await transaction(async ({ db: tx, audit }) => {
    await lockPlans(tx, org)
    await endHoldings(tx, org, now)
    const ended = inForce.map(({ family, source, plan }) => ({ family, source, plan }))
    audit('billing.cancelled', org.id, { ended })
  })
  return { ok: true }
}

export async function promo(input: In<typeof billing.promo, InOrg>): Out<typeof billing.promo> {
  const { context, db, org, body, now, audit } = input
  await lockPlans(db, org)
  const code = body.code.toUpperCase()
  const found = await lockPromo(db, code)
  // An expired code gets the answer of an unknown code, so that guessing reveals nothing.
  if (!found || !isRedeemable(found, now)) throw fail('not_found', 'this promo code does not exist or has expired')
  const { family, plan, days } = found
  const present = planIn(await entitledOf(db, org, now), family)
  if (!isAbove(family, plan, present.id)) throw fail('conflict', `the plan is ${present.name} already`)
  if (!(await redeemPromo(db, org, code, now))) throw fail('conflict', 'this organization has used that code before')
  const endsAt = days === null ? null : new Date(Date.parse(now) + days * 86_400_000).toISOString()
  await saveHolding(db, org, { family, source: 'promo', plan, code, endsAt }, now)
  audit('billing.promo_redeemed', org.id, { family, plan, endsAt })
  return viewOf(context, db, org)
}

const isRedeemable = ({ family, plan, uses, usesMax, expiresAt }: PromoCode, now: string): boolean =>
  (usesMax === null || uses < usesMax) &&
  (expiresAt === null || expiresAt > now) &&
  findPlan(family, plan) !== undefined &&
  plan !== freePlanOf(family).id

function needPayments(context: Context): Payments {
  const payments = openPayments(context)
  if (!payments) throw fail('conflict', 'no payment provider is configured')
  return payments
}

/** The plan page of the dashboard, where the person began. */
const returnUrl = async ({ config, db }: Context, org: { id: string }): Promise<string> =>
  `${config.baseUrl}/orgs/${(await findOrgNames(db, org))?.slug ?? ''}/plan`
