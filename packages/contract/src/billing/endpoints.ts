import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Ok, Strict } from '../schema.ts'
import { BillingView, Family } from './schemas.ts'

const Url = Strict({ url: Type.String() })

/** Plans, what they include, and how much of it is used. */
export const billing = {
  get: get('/v1/orgs/:orgId/billing', {
    summary:
      'Get the plan, its included amounts and the usage. An organization has one plan for secrets (the family `platform`), and one for the vault. `plan`, `subscription` and `promo` show only the family `platform`',
    responses: { 200: BillingView },
  }),
  checkout: post('/v1/orgs/:orgId/billing/checkout', {
    summary: 'Begin to buy a plan. The answer has the address of a page at the payment provider, where a person pays',
    unit: 'manual',
    body: Strict({
      family: Family,
      plan: Type.Optional(
        Type.String({
          maxLength: limits.planIdCharacters,
          pattern: '^[a-z]+$',
          description: 'The plan to buy. Default: the next higher plan that the server sells',
        }),
      ),
    }),
    responses: { 200: Url },
    refuses: ['conflict'],
    audits: ['billing.checkout_started'],
  }),
  portal: post('/v1/orgs/:orgId/billing/portal', {
    summary:
      'Get the address of a page at the payment provider, where a person sees invoices and changes the payment method',
    unit: 'manual',
    responses: { 200: Url },
    refuses: ['conflict'],
    audits: ['billing.portal_opened'],
  }),
  cancel: post('/v1/orgs/:orgId/billing/cancel', {
    summary: 'Cancel all paid plans of the organization immediately',
    unit: 'manual',
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['billing.cancelled'],
  }),
  promo: post('/v1/orgs/:orgId/billing/promo', {
    summary: 'Redeem a promo code',
    body: Strict({
      code: Type.String({
        maxLength: limits.promoCodeCharacters,
        pattern: '^[A-Za-z0-9-]+$',
        description: 'The promo code: letters, digits and hyphens',
      }),
    }),
    responses: { 200: BillingView },
    refuses: ['conflict'],
    audits: ['billing.promo_redeemed'],
  }),
}
