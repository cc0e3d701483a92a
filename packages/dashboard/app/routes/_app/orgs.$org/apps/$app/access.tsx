import { createFileRoute } from '@tanstack/react-router'
import { AccessGrid } from '../../../../../envs/access-grid.tsx'
import { AppTabs, useApp } from '../../../../../secrets/use-app.tsx'
import { Empty } from '../../../../../ui/empty.tsx'
import { Loaded } from '../../../../../ui/loaded.tsx'
import { Page } from '../../../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/access')({ component: Access })

/** The application’s environments, and the people and programs that can read them. */
function Access() {
  const { org } = Route.useRouteContext()
  const { app, query } = useApp()
  return (
    <Page
      title={app.name}
      part="Access"
      crumbs={[{ label: 'Applications', link: { to: '/orgs/$org/apps', params: { org: org.slug } } }]}
      tabs={<AppTabs />}
    >
      <Loaded query={query}>
        {({ environments }) =>
          environments.length === 0 ? (
            <Empty title="No environment yet">Access is given for each environment.</Empty>
          ) : (
            <AccessGrid environments={environments} />
          )
        }
      </Loaded>
    </Page>
  )
}
