import type { Family } from '@skerry/contract/billing/plans'
import type { Sql, Tx } from '../../db/database.ts'

export interface PromoCode {
  code: string
  family: Family
  plan: string
  /** How long the plan lasts; null means without end. */
  days: number | null
  usesMax: number | null
  uses: number
  expiresAt: string | null
}

const columns = 'code, family, plan, days, uses_max, uses, expires_at'

/** Locks the code, so that only one of two callers can redeem its last use. */
export const lockPromo = (db: Tx, code: string) =>
  db.row<PromoCode>(`select ${columns} from promo_codes where code = $1 for update`, [code])

/** Returns undefined if this organization has redeemed the code before. */
export const redeemPromo = (db: Tx, org: { id: string }, code: string, now: string) =>
  db.row(
    `with redeemed as (
       insert into promo_redemptions (org_id, code, created_at) values ($1, $2, $3) on conflict do nothing returning code
     )
     update promo_codes p set uses = p.uses + 1 from redeemed where p.code = redeemed.code returning 1`,
    [org.id, code, now],
  )

export const listPromos = (db: Sql) => db.rows<PromoCode>(`select ${columns} from promo_codes order by code`)

export const insertPromo = (db: Sql, one: Omit<PromoCode, 'uses'>, now: string) =>
  db.row(
    `insert into promo_codes (code, family, plan, days, uses_max, expires_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning 1`,
    [one.code, one.family, one.plan, one.days, one.usesMax, one.expiresAt, now],
  )

export const deletePromo = (db: Sql, code: string) =>
  db.row('delete from promo_codes where code = $1 returning 1', [code])
