import { createFileRoute } from '@tanstack/react-router'
import { Empty } from '../../../ui/empty.tsx'
import { Page } from '../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/')({ component: Overview })

function Overview() {
  const { org } = Route.useRouteContext()
  return (
    <Page title={org.name} description={`You are ${org.role} of this organization.`}>
      <Empty title="Bring an application in" command={`skerry init --org ${org.slug} --app my-app`}>
        In the folder of a project: it makes an application with an environment and writes skerry.json.
      </Empty>
    </Page>
  )
}
