import { Anchor, List } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { appsQuery } from '../../../secrets/queries.ts'
import { Empty } from '../../../ui/empty.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { Page, Section } from '../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(appsQuery(context.org.id)),
  component: Overview,
})

function Overview() {
  const { org } = Route.useRouteContext()
  const query = useQuery(appsQuery(org.id))
  return (
    <Page title={org.name} description={`You are ${org.role} of this organization.`}>
      <Loaded query={query}>
        {({ apps }) =>
          apps.length === 0 ? (
            <Beginning />
          ) : (
            <Section title="Applications" description="You read the secrets of each environment whose key you hold.">
              <List listStyleType="none" spacing="xs">
                {apps.map(({ id, name, slug }) => (
                  <List.Item key={id}>
                    <Anchor component={Link} to="/orgs/$org/apps/$app" params={{ org: org.slug, app: slug } as never}>
                      {name}
                    </Anchor>
                  </List.Item>
                ))}
              </List>
            </Section>
          )
        }
      </Loaded>
    </Page>
  )
}

function Beginning() {
  const { org } = Route.useRouteContext()
  return org.role === 'member' ? (
    <Empty title="No application yet">An administrator of the organization makes the first one.</Empty>
  ) : (
    <Empty title="Bring an application in" command={`skerry init --org ${org.slug} --app my-app`}>
      In the folder of a project: it makes an application with an environment and writes skerry.json.
    </Empty>
  )
}
