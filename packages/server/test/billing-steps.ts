import { billing } from '@skerry/contract/billing/endpoints'
import { insertPromo } from '../src/features/billing/promo-store.ts'
import { known, only, type Step, step, token, user } from './step.ts'
import type { Actor, Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Steps that start a checkout, open the payment portal, redeem a promotion code and cancel the plan. */
export async function subscribing(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
): Promise<Step[]> {
  const { db } = world.server.context
  const code = { code: 'WALK-1', family: 'platform', plan: 'team', days: 30, usesMax: null, expiresAt: null } as const
  await insertPromo(db, code, world.clock.now().toISOString())
  const place = { params: only(ids, {}), resource: known(ids, 'orgId') }
  const byPerson = { as: admin.as, who: user(admin) }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  return [
    step(billing.checkout, 'billing.checkout_started', byPerson, { ...place, body: () => ({ family: 'platform' }) }),
    step(billing.portal, 'billing.portal_opened', byPerson, place),
    step(billing.promo, 'billing.promo_redeemed', byPerson, { ...place, body: () => ({ code: 'WALK-1' }) }),
    step(billing.cancel, 'billing.cancelled', byToken, place),
  ]
}
