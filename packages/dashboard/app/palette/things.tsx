import type { SpotlightActionData } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { appsQuery, groupsQuery } from '../secrets/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { type Icon, IconLayers, IconLayoutGrid, IconServer, IconUsers } from '../ui/icons.ts'

export interface Org {
  id: string
  slug: string
}

/** The things that the palette finds in an organization. They load when the palette opens. */
export function useThings(org: Org | undefined, isOpen: boolean) {
  const navigate = useNavigate()
  const enabled = isOpen && org !== undefined
  const orgId = org?.id ?? ''
  const apps = useQuery({ ...appsQuery(orgId), enabled })
  const groups = useQuery({ ...groupsQuery(orgId), enabled })
  const places = useQuery({ ...environmentLabelsQuery(orgId), enabled })
  const members = useQuery({ ...membersQuery(orgId), enabled })
  if (!org) return { things: [], isLoading: false }
  const params = { org: org.slug }
  const things = [
    ...(apps.data?.apps ?? []).map(({ id, name, slug }) =>
      thing({ id, label: name, keywords: slug, description: 'Application' }, IconLayoutGrid, () =>
        navigate({ to: '/orgs/$org/apps/$app', params: { ...params, app: slug } }),
      ),
    ),
    ...(groups.data?.groups ?? []).map(({ id, name, slug }) =>
      thing({ id, label: name, keywords: slug, description: 'Group' }, IconLayers, () =>
        navigate({ to: '/orgs/$org/groups/$group', params: { ...params, group: slug } }),
      ),
    ),
    ...(places.data ?? []).map(({ id, label }) =>
      thing({ id, label, description: 'Environment' }, IconServer, () =>
        navigate({ to: '/orgs/$org/envs/$env', params: { ...params, env: id } }),
      ),
    ),
    ...(members.data?.members ?? []).map(({ userId, name, email }) =>
      thing(
        { id: userId, label: name ?? email ?? userId, keywords: email ?? '', description: 'Member' },
        IconUsers,
        () => navigate({ to: '/orgs/$org/members', params }),
      ),
    ),
  ]
  return { things, isLoading: [apps, groups, places, members].some((query) => query.isLoading) }
}

type Shown = Pick<SpotlightActionData, 'id' | 'description' | 'keywords'> & { label: string }

/** A line of the palette that leads to a thing. */
export const thing = (shown: Shown, Sign: Icon, go: () => Promise<void>) => ({
  ...shown,
  leftSection: <Sign size={16} strokeWidth={1.4} />,
  onClick: () => void go(),
})
