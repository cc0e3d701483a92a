import type { Feature, Metric } from '@skerry/contract/billing/plans'
import { narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import type { InOrg } from '../orgs/scope.ts'
import { checkFeature, checkQuota } from './quota.ts'

/** Wraps the access of a route that adds one counted item, in a transaction of its own. */
export const quota = <S extends InOrg, N extends string>(metric: Metric, base: Access<S, N>): Access<S, N> => ({
  ...narrowed(
    'quota',
    `If the server enforces the limits of plans, the organization must be below the limit of its plan for \`${metric}\``,
    base,
    async (scope, { context, db }) => {
      await checkQuota(context, db, scope.org, metric)
      return scope
    },
  ),
  name: `quota(${metric}, ${base.name})`,
})

/** Wraps the access of a route whose feature only some plans include. */
export const feature = <S extends InOrg, N extends string>(name: Feature, base: Access<S, N>): Access<S, N> => ({
  ...narrowed(
    'feature',
    `If the server enforces the limits of plans, the plan of the organization must include the feature \`${name}\``,
    base,
    async (scope, { context, db }) => {
      await checkFeature(context, db, scope.org, name)
      return scope
    },
  ),
  name: `feature(${name}, ${base.name})`,
})
