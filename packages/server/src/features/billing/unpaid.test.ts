import { audit } from '@skerry/contract/audit/endpoints'
import { billing } from '@skerry/contract/billing/endpoints'
import { expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { stateOf } from '../../../test/state.ts'
import { insertPromo } from './promo-store.ts'

// A server without a payment provider.

const { world, tenant } = await openTenant()
const { orgId, admin } = tenant
const ask = <E extends Parameters<typeof world.call>[0]>(endpoint: E, body?: object) =>
  world.call(endpoint, { as: admin.as, params: { orgId }, ...(body ? { body } : {}) } as never)

test('checkout and the portal are refused with the reason and change nothing, and the view offers neither', async () => {
  const { body } = await ask(billing.get)
  expect(body.manage).toMatchObject({ checkout: false, checkoutFamilies: [], portal: false })
  const before = await stateOf(world)
  for (const [endpoint, given] of [
    [billing.checkout, { family: 'platform' }],
    [billing.checkout, { family: 'vault', plan: 'pro' }],
    [billing.portal, undefined],
  ] as const) {
    const { status, error } = await ask(endpoint, given)
    expect([status, error]).toEqual([409, { code: 'conflict', message: 'no payment provider is configured' }])
  }
  expect(await stateOf(world)).toEqual(before)
})

test('a promo code gives its plan, and cancelling ends it', async () => {
  const code = { family: 'platform', plan: 'team', days: 30, usesMax: null, expiresAt: null } as const
  await insertPromo(world.server.context.db, { code: 'UNPAID-1', ...code }, world.clock.now().toISOString())
  expect((await ask(billing.promo, { code: 'UNPAID-1' })).body).toMatchObject({ plan: { id: 'team' } })
  expect((await ask(billing.cancel)).body).toEqual({ ok: true })
  expect((await ask(billing.get)).body.plan.id).toBe('free')
  const { entries } = (await ask(audit.list)).body
  expect(entries.slice(0, 2).map(({ action }) => action)).toEqual(['billing.cancelled', 'billing.promo_redeemed'])
})
