import { Anchor, Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link, notFound } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api } from '../../../../api.ts'
import { queryClient } from '../../../../queries.ts'
import { NewEnvironmentDialog } from '../../../../secrets/new-environment.tsx'
import { groupQuery, groupsQuery } from '../../../../secrets/queries.ts'
import { type EnvironmentWithAccess, useColumns } from '../../../../secrets/use-columns.ts'
import { Empty } from '../../../../ui/empty.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page } from '../../../../ui/page.tsx'

// Fetched while the secrets are: the page is there sooner.
const Matrix = lazy(async () => ({ default: (await import('../../../../secrets/matrix.tsx')).Matrix }))

export const Route = createFileRoute('/_app/orgs/$org/groups/$group')({
  loader: async ({ context, params }) => {
    const { groups } = await context.queryClient.ensureQueryData(groupsQuery(context.org.id))
    const group = groups.find(({ slug }) => slug === params.group)
    if (!group) throw notFound()
    void context.queryClient.prefetchQuery(groupQuery(context.org.id, group.id))
    return { group }
  },
  component: Group,
})

function Group() {
  const { org } = Route.useRouteContext()
  const { group } = Route.useLoaderData()
  const query = useQuery(groupQuery(org.id, group.id))
  const [creating, setCreating] = useState(false)
  const newButton = org.role !== 'member' && (
    <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      New environment
    </Button>
  )
  return (
    <Page
      title={query.data?.group.name ?? group.name}
      width="wide"
      description={
        <Anchor component={Link} to="/orgs/$org/groups" params={{ org: org.slug } as never} size="sm">
          Groups
        </Anchor>
      }
      actions={query.data?.environments.length ? newButton : null}
    >
      <Loaded query={query}>
        {({ environments }) =>
          environments.length === 0 ? (
            <Empty
              title="No environment yet"
              action={newButton}
              command={`skerry env create production --group ${group.slug}`}
            >
              An application’s environment gets what is in the group’s environment of the same slug.
            </Empty>
          ) : (
            <Secrets key={group.id} environments={environments} />
          )
        }
      </Loaded>
      {creating && (
        <NewEnvironmentDialog
          onClose={() => setCreating(false)}
          onCreate={async (body) => {
            await api.groups.createEnv({ params: { orgId: org.id, groupId: group.id }, body })
            await queryClient.invalidateQueries(groupQuery(org.id, group.id))
          }}
        />
      )}
    </Page>
  )
}

function Secrets({ environments }: { environments: EnvironmentWithAccess[] }) {
  const { org } = Route.useRouteContext()
  const { group } = Route.useParams()
  const columns = useColumns(org.id, environments, environments)
  return (
    <Suspense>
      <Matrix
        orgId={org.id}
        columns={columns}
        empty={
          <Empty
            title="No secret yet"
            command={`skerry secrets set NAME --group ${group} --env ${environments[0]?.slug}`}
          >
            Add one, or paste a whole .env file.
          </Empty>
        }
      />
    </Suspense>
  )
}
