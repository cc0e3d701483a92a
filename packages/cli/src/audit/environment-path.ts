import type { audit as endpoints } from '@skerry/contract/audit/endpoints'
import type { Answer } from '@skerry/contract/endpoint'

type Environment = Answer<typeof endpoints.list>['environments'][string]

/** `shop/production`, `shop/production@fix-login` for a branch, or `infra:production` in a group. */
export const pathOf = ({ slug, parent, owner }: Environment): string =>
  `${owner.slug}${owner.type === 'group' ? ':' : '/'}${parent ? `${parent.slug}@` : ''}${slug}`
