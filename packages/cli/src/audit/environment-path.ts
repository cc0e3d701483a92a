import type { audit as endpoints } from '@skerry/contract/audit/endpoints'
import type { Answer } from '@skerry/contract/endpoint'

type Environment = Answer<typeof endpoints.list>['environments'][string]

type Entry = Answer<typeof endpoints.list>['entries'][number]

/** `shop/production`, `shop/production@fix-login` for a branch, or `infra:production` in a group. */
export const pathOf = ({ slug, parent, owner }: Environment): string =>
  `${owner.slug}${owner.type === 'group' ? ':' : '/'}${parent ? `${parent.slug}@` : ''}${slug}`

const endings = ['branch.deleted', 'branch.expired', 'env.deleted']

/**
 * Names the environments of entries, newest first. A deleted one has the slug that the entry about its deletion
 * remembers.
 */
export function placeNamer(): (
  entry: Entry,
  environments: Readonly<Record<string, Environment>> | undefined,
) => string {
  const slugs = new Map<string, string>()
  return ({ action, resourceType, resourceId, metadata }, environments) => {
    // An older server sends no environments.
    if (environments === undefined) return ''
    if (endings.includes(action) && resourceId !== null && typeof metadata.slug === 'string')
      slugs.set(resourceId, metadata.slug)
    const environment = environments[String(metadata.environmentId)] ?? environments[resourceId ?? '']
    if (environment) return pathOf(environment)
    const id = metadata.environmentId ?? (resourceType === 'environment' ? resourceId : null)
    if (typeof id !== 'string') return ''
    const slug = slugs.get(id)
    return slug === undefined ? 'deleted environment' : `${slug} (deleted)`
  }
}
