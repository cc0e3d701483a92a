import { Breadcrumbs, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Outlet } from '@tanstack/react-router'
import { useParent } from '../../../../envs/use-parent.ts'
import { envTabs } from '../../../../nav.ts'
import { envQuery, granteesQuery } from '../../../../secrets/queries.ts'
import type { Environment } from '../../../../secrets/use-columns.ts'
import { SyncedBadge } from '../../../../sync/synced-badge.tsx'
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
  return (
    <Loaded query={query}>
      {({ environment }) => {
        const tabs = envTabs.filter(({ when }) => when?.(environment) ?? true)
        return (
          <Page
            key={env}
            title={environment.name}
            description={<Where environment={environment} />}
            tabs={<TabNav label="Environment" tabs={tabs} params={{ org: org.slug, env }} />}
          >
            <Outlet />
          </Page>
        )
      }}
    </Loaded>
  )
}

/** Shows the environment's application or group, its slug, and when a branch expires. */
function Where({ environment }: { environment: Environment }) {
  const { org } = Route.useRouteContext()
  const parent = useParent(environment)
  return (
    <Group gap="xs" component="span">
      <Breadcrumbs component="span" separator="/">
        {parent && (
          <AnchorLink {...parent.link} size="sm">
            {parent.name}
          </AnchorLink>
        )}
        <Text span size="sm" className="mono">
          {environment.slug}
        </Text>
      </Breadcrumbs>
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
    </Group>
  )
}
