import { useQuery } from '@tanstack/react-query'
import { type LinkProps, useRouteContext } from '@tanstack/react-router'
import { appsQuery, groupsQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'

const linkTo = (link: LinkProps) => link

/**
 * Returns the application or group of an environment, with a link to it, and the label of the environment, such as
 * `shop/production`. Undefined until it has loaded.
 */
export function useParent({ applicationId, groupId, slug }: Environment) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const app = useQuery(appsQuery(org.id)).data?.apps.find(({ id }) => id === applicationId)
  const group = useQuery(groupsQuery(org.id)).data?.groups.find(({ id }) => id === groupId)
  if (app)
    return {
      name: app.name,
      label: `${app.slug}/${slug}`,
      link: linkTo({ to: '/orgs/$org/apps/$app', params: { org: org.slug, app: app.slug } }),
    }
  if (group)
    return {
      name: group.name,
      label: `${group.slug}:${slug}`,
      link: linkTo({ to: '/orgs/$org/groups/$group', params: { org: org.slug, group: group.slug } }),
    }
}
