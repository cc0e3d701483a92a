import type { Family } from '@skerry/contract/billing/plans'
import type { Sql, Tx } from '../../db/database.ts'

interface OrgId {
  id: string
}

export interface Holding {
  family: Family
  source: 'subscription' | 'promo' | 'operator'
  plan: string
  subscriptionId: string | null
  status: string | null
  amount: number | null
  currency: string | null
  interval: string | null
  code: string | null
  endsAt: string | null
}

export interface Override {
  key: string
  value: number | boolean | null
  reason: string
}

const holdingColumns = 'family, source, plan, subscription_id, status, amount, currency, "interval", code, ends_at'

export const listHoldings = (db: Sql, org: OrgId) =>
  db.rows<Holding>(`select ${holdingColumns} from org_plans where org_id = $1`, [org.id])

export const listOverrides = (db: Sql, org: OrgId) =>
  db.rows<Override>('select key, value, reason from plan_overrides where org_id = $1 order by key', [org.id])

export const listHoldingsOfEach = (db: Sql, orgIds: readonly string[]) =>
  db.rows<Holding & { orgId: string }>(
    `select org_id, ${holdingColumns} from org_plans where org_id = any($1::text[])`,
    [orgIds],
  )

export const listOverridesOfEach = (db: Sql, orgIds: readonly string[]) =>
  db.rows<Override & { orgId: string }>(
    'select org_id, key, value, reason from plan_overrides where org_id = any($1::text[]) order by org_id, key',
    [orgIds],
  )

export type NewHolding = Pick<Holding, 'family' | 'source' | 'plan'> & Partial<Holding>

export const saveHolding = (db: Tx, org: OrgId, one: NewHolding, now: string) =>
  db.rows(
    `insert into org_plans (org_id, ${holdingColumns}, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (org_id, family, source) do update
       set plan = excluded.plan, subscription_id = excluded.subscription_id, status = excluded.status,
           amount = excluded.amount, currency = excluded.currency, "interval" = excluded."interval",
           code = excluded.code, ends_at = excluded.ends_at, updated_at = excluded.updated_at`,
    [
      org.id,
      one.family,
      one.source,
      one.plan,
      one.subscriptionId,
      one.status,
      one.amount,
      one.currency,
      one.interval,
      one.code,
      one.endsAt,
      now,
    ],
  )

/** Deletes all plans except subscriptions, which stay as cancelled because their last state is shown. */
export async function endHoldings(db: Tx, org: OrgId, now: string): Promise<void> {
  await db.rows(`delete from org_plans where org_id = $1 and source <> 'subscription'`, [org.id])
  await db.rows(`update org_plans set status = 'canceled', updated_at = $2 where org_id = $1`, [org.id, now])
}

export const deleteHolding = (db: Tx, org: OrgId, { family, source }: Pick<Holding, 'family' | 'source'>) =>
  db.row('delete from org_plans where org_id = $1 and family = $2 and source = $3 returning 1', [
    org.id,
    family,
    source,
  ])

export const saveOverride = (db: Tx, org: OrgId, { key, value, reason }: Override, now: string) =>
  db.rows(
    `insert into plan_overrides (org_id, key, value, reason, updated_at) values ($1, $2, $3::jsonb, $4, $5)
     on conflict (org_id, key) do update
       set value = excluded.value, reason = excluded.reason, updated_at = excluded.updated_at`,
    [org.id, key, JSON.stringify(value), reason, now],
  )

export const deleteOverride = (db: Tx, org: OrgId, key: string) =>
  db.row('delete from plan_overrides where org_id = $1 and key = $2 returning 1', [org.id, key])

/** Locks until commit, so that changes to the plans of one organization run one after the other. */
export const lockPlans = (db: Tx, org: OrgId) =>
  db.row<{ name: string }>('select name from organizations where id = $1 for no key update', [org.id])

export const findCustomer = (db: Sql, org: OrgId) =>
  db.row<{ customerId: string }>('select customer_id from billing_customers where org_id = $1', [org.id])

export const insertCustomer = (db: Tx, org: OrgId, customerId: string, now: string) =>
  db.rows(
    'insert into billing_customers (org_id, customer_id, created_at) values ($1, $2, $3) on conflict do nothing',
    [org.id, customerId, now],
  )

export const findOrgNames = (db: Sql, org: OrgId) =>
  db.row<{ name: string; slug: string }>('select name, slug from organizations where id = $1', [org.id])

/** Returns undefined if the event was received before. */
export const takeEvent = (db: Tx, id: string, now: string) =>
  db.row('insert into billing_events (id, received_at) values ($1, $2) on conflict do nothing returning 1', [id, now])

export const deleteOldEvents = (db: Sql, before: string) =>
  db.rows('delete from billing_events where received_at < $1', [before])

/** Finds the organization of a customer at the payment provider. */
export const findOrgOfCustomer = (db: Sql, customerId: string) =>
  db.row<{ id: string }>('select org_id as id from billing_customers where customer_id = $1', [customerId])
