import { createFileRoute } from '@tanstack/react-router'
import { ChangeList } from '../../../../../changes/list.tsx'
import { AppTabs, useApp } from '../../../../../secrets/use-app.tsx'
import { Page } from '../../../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/changes')({ component: Changes })

/** The changes of the application’s protected environments, open and closed. */
function Changes() {
  const { org } = Route.useRouteContext()
  const { app } = useApp()
  return (
    <Page
      title={app.name}
      part="Changes"
      crumbs={[{ label: 'Applications', link: { to: '/orgs/$org/apps', params: { org: org.slug } } }]}
      tabs={<AppTabs />}
    >
      <ChangeList filter={{ status: 'all', applicationId: app.id }} />
    </Page>
  )
}
