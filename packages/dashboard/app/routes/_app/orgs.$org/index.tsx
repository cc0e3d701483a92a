import { Anchor } from '@mantine/core'
import { createFileRoute, Link } from '@tanstack/react-router'
import { Empty } from '../../../ui/empty.tsx'
import { Page } from '../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/')({ component: Overview })

function Overview() {
  const { org } = Route.useRouteContext()
  return (
    <Page title={org.name} description={`You are ${org.role} of this organization.`}>
      {org.role === 'member' ? (
        <Empty
          title="Look into its applications"
          action={<Applications />}
          command={`skerry app list --org ${org.slug}`}
        >
          You read the secrets of an environment once someone who holds its key has granted it to you.
        </Empty>
      ) : (
        <Empty
          title="Bring an application in"
          action={<Applications />}
          command={`skerry init --org ${org.slug} --app my-app`}
        >
          In the folder of a project: it makes an application with an environment and writes skerry.json.
        </Empty>
      )}
    </Page>
  )
}

function Applications() {
  const { org } = Route.useRouteContext()
  return (
    <Anchor component={Link} to="/orgs/$org/apps" params={{ org: org.slug } as never} size="sm">
      Applications
    </Anchor>
  )
}
