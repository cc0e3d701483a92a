import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { rawRoutes, routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  rawRoutes,
  jobs,
  archive: {
    sections: [],
    withheld: {
      usage_counts: 'counts what this server did',
      org_plans: 'an agreement with the operator of this server',
      plan_overrides: 'an agreement with the operator of this server',
      billing_customers: 'an account at the payment provider of this server',
      promo_redemptions: 'an agreement with the operator of this server',
    },
  },
}
