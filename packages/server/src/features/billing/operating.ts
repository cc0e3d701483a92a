import type { Family } from '@skerry/contract/billing/plans'
import type { Database, Tx } from '../../db/database.ts'
import { type Entry, recordIn, system } from '../../kernel/audit.ts'
import { deletePromo, insertPromo, listPromos, type PromoCode } from './promo-store.ts'
import { isInForce } from './standing.ts'
import {
  deleteHolding,
  deleteOverride,
  listHoldings,
  listOverrides,
  lockPlans,
  type Override,
  saveHolding,
  saveOverride,
} from './store.ts'

// Commands of operators, who have the database and no account. Each change is recorded in the organization's audit log.

interface OrgId {
  id: string
}

export async function plansOf(db: Database, org: OrgId) {
  const now = new Date().toISOString()
  const plans = (await listHoldings(db, org)).map((one) => ({ ...one, inForce: isInForce(one, now) }))
  return { orgId: org.id, plans, overrides: await listOverrides(db, org) }
}

/** Assigning the free plan removes the assigned one. */
export function assignPlan(
  db: Database,
  org: OrgId,
  { family, plan, endsAt }: { family: Family; plan: string; endsAt: string | null },
): Promise<boolean> {
  const holding = { family, source: 'operator' as const, plan, endsAt }
  return change(db, org, 'billing.plan_assigned', { family, plan, endsAt }, async (tx, now) => {
    if (plan === 'free') await deleteHolding(tx, org, holding)
    else await saveHolding(tx, org, holding, now)
    return true
  })
}

export const setOverride = (db: Database, org: OrgId, override: Override): Promise<boolean> =>
  change(db, org, 'billing.override_set', { key: override.key, value: override.value }, async (tx, now) => {
    await saveOverride(tx, org, override, now)
    return true
  })

/** Returns false if there is no such override. */
export const unsetOverride = (db: Database, org: OrgId, key: string): Promise<boolean> =>
  change(db, org, 'billing.override_removed', { key }, async (tx) => (await deleteOverride(tx, org, key)) !== undefined)

const change = (
  db: Database,
  org: OrgId,
  action: Entry['action'],
  metadata: Entry['metadata'],
  work: (tx: Tx, now: string) => Promise<boolean>,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const now = new Date()
    await lockPlans(tx, org)
    const isDone = await work(tx, now.toISOString())
    if (isDone) recordIn({ now: () => now }, tx, system, { orgId: org.id, action, resourceId: org.id, metadata })
    return isDone
  })

export const promosOf = (db: Database): Promise<PromoCode[]> => listPromos(db)

/** Returns false if a code of that name exists. */
export const addPromo = async (db: Database, promo: Omit<PromoCode, 'uses'>): Promise<boolean> =>
  (await insertPromo(db, promo, new Date().toISOString())) !== undefined

/** Returns false if there is no such code. */
export const removePromo = async (db: Database, code: string): Promise<boolean> =>
  (await deletePromo(db, code)) !== undefined
