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

  test('is of the organization’s own members alone', async () => {
    const stranger = await signUp(world)
    expect((await ask(billing.get, undefined, stranger.admin.as)).status).toBe(404)
  })
})

describe('a promo code', () => {
  test('gives its plan until it ends, in either case of its letters, once', async () => {
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
    ['that nobody made', 'NOBODY', null],
    ['whose time is over', 'LATE', { expiresAt: '2020-01-01T00:00:00.000Z' }],
    ['of a plan that costs nothing', 'NOTHING', { plan: 'free' }],
  ])('%s is unknown', async (_, name, more) => {
    if (more) await code(name, more)
    expect((await redeem(name)).status).toBe(404)
    expect((await view()).plan.id).toBe('free')
  })

  test('that two redeem at once is used by no more than it allows', async () => {
    await code('ONE-USE', { usesMax: 1 })
    const other = await signUp(world)
    const answers = await Promise.all(
      [tenant, other].map(({ orgId, admin }) =>
        world.call(billing.promo, { as: admin.as, params: { orgId }, body: { code: 'ONE-USE' } }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
  })

  test('is not for members', async () => {
    const member = await newToken(world, tenant)
    expect((await ask(billing.promo, { code: 'ANY' }, member.as)).status).toBe(403)
  })
})

describe('paying', () => {
  /** A customer who has been on the page of the checkout. */
  async function paid(price = 'price_team') {
    expect((await ask(billing.checkout, { family: 'platform' })).status).toBe(200)
    const customer = stripe.checkouts.at(-1)?.customer as string
    return { customer, id: stripe.pay(customer, price) }
  }
  const tell = (type: string, object: object, more?: object) => stripe.tell(world.url, { type, object }, more)
  const planIs = (id: string) => until(`the plan ${id}`, async () => (await view()).plan.id === id)

  test('begins at the provider, with the lowest plan above the present one, for one customer', async () => {
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

  test('gives the plan once the provider has said so, and ends when it says so', async () => {
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

  test('an event is applied once, and none that somebody else made or that came late', async () => {
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

  test('a subscription of a customer whom nobody knows gives nobody a plan', async () => {
    const id = stripe.pay('cus_stranger', 'price_team')
    await tell('customer.subscription.created', { id })
    await until('it was looked at', () => stripe.asked.includes(`GET /v1/subscriptions/${id}`))
    expect((await view()).plan.id).toBe('free')
  })

  test('that the provider refuses changes nothing, and repeats nothing that it says', async () => {
    stripe.failing = 402
    const { status, error } = await ask(billing.checkout, { family: 'platform' })
    expect([status, error?.message]).toEqual([409, 'target: the payment provider answered 402'])
    expect((await view()).manage.portal).toBe(false)
    expect(world.log.join()).not.toContain(stripeKey)
    expect(world.answers.join()).not.toContain(stripeKey)
  })

  test('and cancelling ends it at the provider and here, at once', async () => {
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
    expect((await ask(billing.cancel)).error?.message).toBe('every plan is free already')
  })
})

test('a plan and an override of the operator hold beside what is paid, and cancelling ends the plan alone', async () => {
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
