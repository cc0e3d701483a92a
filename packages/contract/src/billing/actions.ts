import type { ActionRow } from '../action.ts'

export const actions = {
  'billing.checkout_started': { about: 'billing', evicts: 'none', group: 'organization', label: 'Checkout begun' },
  'billing.portal_opened': { about: 'billing', evicts: 'none', group: 'organization', label: 'Payments opened' },
  'billing.promo_redeemed': { about: 'billing', evicts: 'none', group: 'organization', label: 'Promo code redeemed' },
  'billing.cancelled': { about: 'billing', evicts: 'none', group: 'organization', label: 'Plan cancelled' },
  'billing.subscription_changed': {
    about: 'billing',
    evicts: 'none',
    group: 'organization',
    label: 'Subscription changed',
  },
  'billing.plan_assigned': {
    about: 'billing',
    evicts: 'none',
    group: 'organization',
    label: 'Plan assigned by the operator',
  },
  'billing.override_set': {
    about: 'billing',
    evicts: 'none',
    group: 'organization',
    label: 'Limit set by the operator',
  },
  'billing.override_removed': {
    about: 'billing',
    evicts: 'none',
    group: 'organization',
    label: 'Limit of the operator removed',
  },
} as const satisfies Record<string, ActionRow>
