import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Outlet } from '@tanstack/react-router'
import { useParent } from '../../../../envs/use-parent.ts'
import { envTabs } from '../../../../nav.ts'
import { envQuery, granteesQuery } from '../../../../secrets/queries.ts'
import type { Environment } from '../../../../secrets/use-columns.ts'
import { SyncedBadge } from '../../../../sync/synced-badge.tsx'
import { EnvName } from '../../../../ui/env-name.tsx'
import { AnchorLink } from '../../../../ui/links.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page } from '../../../../ui/page.tsx'
import { RelativeTime } from '../../../../ui/relative-time.tsx'
import { TabNav } from '../../../../ui/tab-nav.tsx'

/** The parent route of one environment's pages: the title, the link to its application or group, and the tabs. */
export const Route = createFileRoute('/_app/orgs/$org/envs/$env')({
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(envQuery(context.org.id, params.env))
    void context.queryClient.prefetchQuery(granteesQuery(context.org.id, params.env))
  },
  component: EnvironmentLayout,
})

function EnvironmentLayout() {
  const { org } = Route.useRouteContext()
  const { env } = Route.useParams()
  const query = useQuery(envQuery(org.id, env))
  return <Loaded query={query}>{({ environment }) => <EnvironmentPage key={env} environment={environment} />}</Loaded>
}

function EnvironmentPage({ environment }: { environment: Environment }) {
  const { org } = Route.useRouteContext()
  const parent = useParent(environment)
  const tabs = envTabs.filter(({ when }) => when?.(environment) ?? true)
  return (
    <Page
      title={environment.name}
      crumbs={parent ? [{ label: parent.name, link: parent.link }] : []}
      about={<Where environment={environment} />}
      tabs={<TabNav label="Environment" tabs={tabs} params={{ org: org.slug, env: environment.id }} />}
    >
      <Outlet />
    </Page>
  )
}

/** Shows the environment's slug, its sync, and when a branch expires. */
function Where({ environment }: { environment: Environment }) {
  const { org } = Route.useRouteContext()
  return (
    <>
      <EnvName name={environment.slug} slug={environment.parentEnvironmentId ? 'branch' : environment.slug} />
      <SyncedBadge environmentId={environment.id} />
      {environment.parentEnvironmentId && (
        <Text span size="sm">
          a branch of{' '}
          <AnchorLink
            to="/orgs/$org/envs/$env"
            params={{ org: org.slug, env: environment.parentEnvironmentId }}
            size="sm"
            underline="always"
          >
            its environment
          </AnchorLink>
          , expires <RelativeTime at={environment.expiresAt} />
        </Text>
      )}
    </>
  )
}
