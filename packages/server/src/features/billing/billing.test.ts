import { audit } from '@skerry/contract/audit/endpoints'
import { billing } from '@skerry/contract/billing/endpoints'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { startStripe, stripeKey } from '../../../test/services/stripe.ts'
import { newMember, newToken, signUp, type Tenant } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { insertPromo } from './promo-store.ts'
import { saveHolding, saveOverride } from './store.ts'

const stripe = await startStripe()
afterAll(() => stripe.close())
const { world } = await openTenant(stripe.settings)
const { db } = world.server.context

let tenant: Tenant
beforeEach(async () => {
  tenant = await signUp(world)
  stripe.failing = null
  stripe.asked.length = 0
})

const ask = <E extends Parameters<typeof world.call>[0]>(endpoint: E, body?: object, as = tenant.admin.as) =>
  world.call(endpoint, { as, params: { orgId: tenant.orgId }, ...(body ? { body } : {}) } as never)
const view = async () => (await ask(billing.get)).body
const org = () => ({ id: tenant.orgId })
const now = () => world.clock.now().toISOString()
const trail = async () => (await ask(audit.list, undefined)).body.entries.map(({ action }) => action)

const code = (name: string, more: object = {}) =>
  insertPromo(
    db,
    { code: name, family: 'platform', plan: 'team', days: 30, usesMax: null, expiresAt: null, ...more },
    now(),
  )
const redeem = (name: string) => ask(billing.promo, { code: name })

describe('the view', () => {
  test('shows any member the plan, what it includes and what is used', async () => {
    const member = await newMember(world, tenant)
    const { body } = await ask(billing.get, undefined, member.as)
    expect(body).toMatchObject({
      subscription: null,
      plan: { id: 'free', name: 'Free', family: 'platform', price: null },
      promo: null,
      enforced: false,
      overrides: [],
      manage: { checkout: true, checkoutFamilies: ['platform'], portal: false },
    })
    const of = (key: string) => body.usage.find((one) => one.key === key)
    expect(of('members')).toMatchObject({ label: 'Members', quantity: 1, included: 5, available: true })
    expect(of('service_tokens')).toMatchObject({ quantity: 1, included: 20 })
    expect(of('vault.releases')).toMatchObject({ quantity: 0, included: 10_000, available: true })
    expect(body.entitlements).toContainEqual({ key: 'feature.honey_tokens', plan: 'free', granted: true })
    expect(body.families.map(({ plan }) => plan.name)).toEqual(['Free', 'Vault Free'])
  })

  test('is not shown to people outside the organization', async () => {
    const stranger = await signUp(world)
    expect((await ask(billing.get, undefined, stranger.admin.as)).status).toBe(404)
  })
})

describe('a promo code', () => {
  test('gives its plan until it ends, in upper or lower case, and only once', async () => {
    await code('SPRING-1')
    const { body } = await redeem('spring-1')
    expect(body.plan.id).toBe('team')
    expect(body.promo).toMatchObject({ code: 'SPRING-1', plan: 'team' })
    expect(body.usage.find(({ key }) => key === 'members')?.included).toBe(50)
    expect((await redeem('SPRING-1')).status).toBe(409)
    expect(await trail()).toContain('billing.promo_redeemed')
    await saveHolding(
      db as never,
      org(),
      { family: 'platform', source: 'promo', plan: 'team', code: 'SPRING-1', endsAt: now() },
      now(),
    )
    expect((await view()).plan.id).toBe('free')
    expect((await redeem('SPRING-1')).error?.message).toBe('this organization has used that code before')
  })

  test.each([
    ['that does not exist', 'NOBODY', null],
    ['that has expired', 'LATE', { expiresAt: '2020-01-01T00:00:00.000Z' }],
    ['for a free plan', 'NOTHING', { plan: 'free' }],
  ])('%s is answered as unknown', async (_, name, more) => {
    if (more) await code(name, more)
    expect((await redeem(name)).status).toBe(404)
    expect((await view()).plan.id).toBe('free')
  })

  test('with one use left can be redeemed by only one of two organizations at once', async () => {
    await code('ONE-USE', { usesMax: 1 })
    const other = await signUp(world)
    const answers = await Promise.all(
      [tenant, other].map(({ orgId, admin }) =>
        world.call(billing.promo, { as: admin.as, params: { orgId }, body: { code: 'ONE-USE' } }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
  })

  test('cannot be redeemed by a member', async () => {
    const member = await newToken(world, tenant)
    expect((await ask(billing.promo, { code: 'ANY' }, member.as)).status).toBe(403)
  })
})

describe('a subscription', () => {
  /** Pays a subscription, as a customer on the checkout page would. */
  async function paid(price = 'price_team') {
    expect((await ask(billing.checkout, { family: 'platform' })).status).toBe(200)
    const customer = stripe.checkouts.at(-1)?.customer as string
    return { customer, id: stripe.pay(customer, price) }
  }
  const tell = (type: string, object: object, more?: object) => stripe.tell(world.url, { type, object }, more)
  const planIs = (id: string) => until(`the plan ${id}`, async () => (await view()).plan.id === id)

  test('begins with a checkout for the next higher plan, with one customer for the organization', async () => {
    const { body } = await ask(billing.checkout, { family: 'platform' })
    expect(body.url).toBe('https://checkout.stripe.com/c/pay/cs_1')
    await ask(billing.checkout, { family: 'platform', plan: 'business' })
    const [first, second] = stripe.checkouts.slice(-2)
    expect(first).toMatchObject({ 'line_items[0][price]': 'price_team' })
    expect(second).toMatchObject({ 'line_items[0][price]': 'price_business', customer: first?.customer })
    expect(first?.success_url).toBe(`${world.url}/orgs/${tenant.slug}/plan`)
    expect(stripe.customers.get(first?.customer ?? '')).toMatchObject({ 'metadata[orgId]': tenant.orgId })
    expect((await view()).plan.id).toBe('free')
    expect((await ask(billing.checkout, { family: 'vault' })).status).toBe(409)
    expect((await ask(billing.checkout, { family: 'platform', plan: 'free' })).status).toBe(400)
  })

  test('gives its plan when the provider reports it, and ends when the provider reports that', async () => {
    const { id } = await paid()
    expect(await tell('checkout.session.completed', { subscription: id })).toBe(200)
    await planIs('team')
    expect(await view()).toMatchObject({
      plan: { price: { amount: 2000, currency: 'eur', interval: 'month' } },
      subscription: {
        family: 'platform',
        plan: 'team',
        status: 'active',
        currentPeriodEnd: '2030-01-01T00:00:00.000Z',
      },
      manage: { portal: true },
    })
    expect((await ask(billing.checkout, { family: 'platform' })).status).toBe(409)
    expect((await ask(billing.portal)).body.url).toBe('https://billing.stripe.com/p/1')
    stripe.change(id, { price: 'price_business' })
    await tell('customer.subscription.updated', { id })
    await planIs('business')
    stripe.change(id, { status: 'canceled' })
    await tell('customer.subscription.deleted', { id })
    await planIs('free')
    expect((await view()).subscription).toMatchObject({ plan: 'business', status: 'canceled' })
  })

  test('is read once for each event, and not for a forged, changed or late event', async () => {
    const { id } = await paid()
    const before = stripe.asked.length
    const event = { type: 'customer.subscription.updated', object: { id } }
    expect(await stripe.tell(world.url, event, { secret: 'whsec_another' })).toBe(400)
    expect(await stripe.tell(world.url, event, { body: (signed) => signed.replace(id, `${id}x`) })).toBe(400)
    expect(await stripe.tell(world.url, event, { atSeconds: Math.floor(Date.now() / 1000) - 3600 })).toBe(400)
    expect((await fetch(`${world.url}/webhooks/stripe`, { method: 'POST', body: '{}' })).status).toBe(400)
    const again = { ...event, id: `evt_${id}` }
    expect(await stripe.tell(world.url, again)).toBe(200)
    await planIs('team')
    expect(await stripe.tell(world.url, again)).toBe(200)
    const rows = await db.rows(`select 1 from jobs where name = 'billing.refresh' and data->>'subscriptionId' = $1`, [
      id,
    ])
    expect(rows).toHaveLength(1)
    expect(stripe.asked.length).toBe(before + 1)
  })

  test('of an unknown customer gives nobody a plan', async () => {
    const id = stripe.pay('cus_stranger', 'price_team')
    await tell('customer.subscription.created', { id })
    await until('it was looked at', () => stripe.asked.includes(`GET /v1/subscriptions/${id}`))
    expect((await view()).plan.id).toBe('free')
  })

  test('that the provider refuses changes nothing, and the error repeats no message of the provider', async () => {
    stripe.failing = 402
    const { status, error } = await ask(billing.checkout, { family: 'platform' })
    expect([status, error?.message]).toEqual([409, 'target: the payment provider answered 402'])
    expect((await view()).manage.portal).toBe(false)
    expect(world.log.join()).not.toContain(stripeKey)
    expect(world.answers.join()).not.toContain(stripeKey)
  })

  test('ends at once, at the provider and here, when an admin cancels it', async () => {
    const { id } = await paid()
    await tell('customer.subscription.created', { id })
    await planIs('team')
    stripe.failing = 503
    expect((await ask(billing.cancel)).status).toBe(409)
    expect((await view()).plan.id).toBe('team')
    stripe.failing = null
    expect((await ask(billing.cancel)).body).toEqual({ ok: true })
    expect(stripe.asked).toContain(`DELETE /v1/subscriptions/${id}`)
    expect(await view()).toMatchObject({ plan: { id: 'free' }, subscription: { status: 'canceled' } })
    expect((await ask(billing.cancel)).error?.message).toBe('every plan is already free')
  })

  test('and a promo code for a higher plan are kept beside each other, and the higher plan applies until the code ends', async () => {
    const { id } = await paid()
    await tell('customer.subscription.created', { id })
    await planIs('team')
    await code('SAME-PLAN')
    expect((await redeem('SAME-PLAN')).error?.message).toBe('the plan is Team already')
    await code('BESIDE', { plan: 'business' })
    const { body } = await redeem('BESIDE')
    expect(body).toMatchObject({
      plan: { id: 'business', price: null },
      subscription: { plan: 'team', status: 'active' },
      promo: { code: 'BESIDE', plan: 'business' },
    })
    await saveHolding(
      db as never,
      org(),
      { family: 'platform', source: 'promo', plan: 'business', code: 'BESIDE', endsAt: now() },
      now(),
    )
    expect(await view()).toMatchObject({
      plan: { id: 'team', price: { amount: 2000 } },
      subscription: { plan: 'team', status: 'active' },
      promo: null,
    })
  })

  test('is kept beside a plan and an override of the operator, and cancelling ends both plans but not the override', async () => {
    const { id } = await paid()
    await tell('customer.subscription.created', { id })
    await planIs('team')
    await saveHolding(db as never, org(), { family: 'platform', source: 'operator', plan: 'business' }, now())
    await saveOverride(db as never, org(), { key: 'members', value: 7, reason: 'agreed by mail' }, now())
    const includedMembers = async () => (await view()).usage.find(({ key }) => key === 'members')?.included
    expect(await view()).toMatchObject({ plan: { id: 'business' }, subscription: { plan: 'team', status: 'active' } })
    expect(await includedMembers()).toBe(7)
    expect((await ask(billing.cancel)).body).toEqual({ ok: true })
    expect(stripe.asked).toContain(`DELETE /v1/subscriptions/${id}`)
    expect(await view()).toMatchObject({ plan: { id: 'free' }, subscription: { plan: 'team', status: 'canceled' } })
    expect(await includedMembers()).toBe(7)
  })
})

test('an operator can assign a plan and an override, and cancelling ends only the plan', async () => {
  await saveHolding(db as never, org(), { family: 'vault', source: 'operator', plan: 'pro' }, now())
  await saveOverride(db as never, org(), { key: 'members', value: 7, reason: 'agreed by mail' }, now())
  const before = await view()
  expect(before.families.map(({ plan }) => plan.id)).toEqual(['free', 'pro'])
  expect(before.overrides).toEqual([{ key: 'members', value: 7, reason: 'agreed by mail' }])
  expect(before.usage.find(({ key }) => key === 'members')?.included).toBe(7)
  expect((await ask(billing.cancel)).status).toBe(200)
  const after = await view()
  expect(after.families.map(({ plan }) => plan.id)).toEqual(['free', 'free'])
  expect(after.overrides).toHaveLength(1)
})
