import { createFileRoute } from '@tanstack/react-router'
import { AppTabs, useApp } from '../../../../../secrets/use-app.tsx'
import { BindingList } from '../../../../../sync/binding-list.tsx'
import { ForAdmins } from '../../../../../ui/for-admins.tsx'
import { Loaded } from '../../../../../ui/loaded.tsx'
import { Page } from '../../../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/sync')({ component: Sync })

/** Where the application’s environments are pushed. */
function Sync() {
  const { org } = Route.useRouteContext()
  const { app, query } = useApp()
  return (
    <Page
      title={app.name}
      part="Sync"
      crumbs={[{ label: 'Applications', link: { to: '/orgs/$org/apps', params: { org: org.slug } } }]}
      tabs={<AppTabs />}
    >
      <ForAdmins>
        <Loaded query={query}>
          {({ environments }) => <BindingList environmentIds={environments.map(({ id }) => id)} />}
        </Loaded>
      </ForAdmins>
    </Page>
  )
}
