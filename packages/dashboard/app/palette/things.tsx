import type { SpotlightActionData } from '@mantine/spotlight'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { appQuery, appsQuery, groupsQuery, sealedQuery } from '../secrets/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { type Icon, IconKey, IconLayers, IconLayoutGrid, IconServer, IconUsers } from '../ui/icons.ts'

interface Org {
  id: string
  slug: string
}

/** Names of secrets come from at most this many environments, so that a large organization is not loaded as a whole. */
const environmentsMax = 40

/** The things that the palette finds in an organization. They load when the palette opens. */
export function useThings(org: Org | undefined, isOpen: boolean) {
  const navigate = useNavigate()
  const enabled = isOpen && org !== undefined
  const orgId = org?.id ?? ''
  const apps = useQuery({ ...appsQuery(orgId), enabled })
  const groups = useQuery({ ...groupsQuery(orgId), enabled })
  const places = useQuery({ ...environmentLabelsQuery(orgId), enabled })
  const members = useQuery({ ...membersQuery(orgId), enabled })
  const secrets = useSecretNames(orgId, apps.data?.apps ?? [], enabled)
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
    ...secrets.map(({ name, app }) =>
      thing({ id: `${app.id} ${name}`, label: name, description: app.name }, IconKey, () =>
        navigate({ to: '/orgs/$org/apps/$app', params: { ...params, app: app.slug }, search: { secret: name } }),
      ),
    ),
  ]
  return { things, isLoading: [apps, groups, places, members].some((query) => query.isLoading) }
}

type App = { id: string; name: string; slug: string }

/** Returns the names of the secrets that this person can read, once for each application. */
function useSecretNames(orgId: string, apps: App[], enabled: boolean): { name: string; app: App }[] {
  const details = useQueries({ queries: apps.map(({ id }) => ({ ...appQuery(orgId, id), enabled })) })
  const readable = details
    .flatMap(({ data }, i) =>
      (data?.environments ?? []).filter(({ canDecrypt }) => canDecrypt).map(({ id }) => ({ id, app: apps[i] as App })),
    )
    .slice(0, environmentsMax)
  const sealed = useQueries({ queries: readable.map(({ id }) => ({ ...sealedQuery(orgId, id), enabled })) })
  const found = new Map<string, { name: string; app: App }>()
  for (const [i, { app }] of readable.entries())
    for (const name of sealed[i]?.data?.secrets.keys() ?? []) found.set(`${app.id} ${name}`, { name, app })
  return [...found.values()]
}

type Shown = Pick<SpotlightActionData, 'id' | 'description' | 'keywords'> & { label: string }

const thing = (shown: Shown, Sign: Icon, go: () => Promise<void>): SpotlightActionData => ({
  ...shown,
  leftSection: <Sign size={16} strokeWidth={1.4} />,
  onClick: () => void go(),
})
