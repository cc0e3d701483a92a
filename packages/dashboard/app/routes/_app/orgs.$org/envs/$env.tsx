import { Breadcrumbs, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api } from '../../../../api.ts'
import { outdated } from '../../../../queries.ts'
import { RenameDialog } from '../../../../secrets/named-thing-dialogs.tsx'
import { appsQuery, envQuery, granteesQuery, groupsQuery, sealedQuery } from '../../../../secrets/queries.ts'
import type { Environment } from '../../../../secrets/use-columns.ts'
import { ConfirmDelete } from '../../../../ui/confirm-delete.tsx'
import { AnchorLink } from '../../../../ui/links.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page, Section } from '../../../../ui/page.tsx'
import { RelativeTime } from '../../../../ui/relative-time.tsx'

// Fetched by themselves: the page is there sooner.
const Composition = lazy(async () => ({ default: (await import('../../../../envs/composition.tsx')).Composition }))
const KeyAccess = lazy(async () => ({ default: (await import('../../../../envs/key-access.tsx')).KeyAccess }))
const Branches = lazy(async () => ({ default: (await import('../../../../envs/branches.tsx')).Branches }))
const Protection = lazy(async () => ({ default: (await import('../../../../envs/protection.tsx')).Protection }))
const Rekey = lazy(async () => ({ default: (await import('../../../../envs/rekey.tsx')).Rekey }))

export const Route = createFileRoute('/_app/orgs/$org/envs/$env')({
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(envQuery(context.org.id, params.env))
    void context.queryClient.prefetchQuery(granteesQuery(context.org.id, params.env))
  },
  component: EnvironmentPage,
})

function EnvironmentPage() {
  const { org } = Route.useRouteContext()
  const { env } = Route.useParams()
  const query = useQuery(envQuery(org.id, env))
  return <Loaded query={query}>{({ environment }) => <Settings key={env} environment={environment} />}</Loaded>
}

function Settings({ environment }: { environment: Environment }) {
  const { org } = Route.useRouteContext()
  const sealed = useQuery(sealedQuery(org.id, environment.id)).data
  const isBranch = environment.parentEnvironmentId !== null
  const isAdmin = org.role !== 'member'
  const holdsKey = !!sealed
  return (
    <Page title={environment.name} description={<Where environment={environment} />}>
      <Suspense>
        <KeyAccess environment={environment} />
        {environment.applicationId !== null && !isBranch && <Composition environment={environment} />}
        {environment.applicationId !== null && !isBranch && <Branches environment={environment} holdsKey={holdsKey} />}
        <Protection environment={environment} />
        {isAdmin && holdsKey && <Rekey environment={environment} />}
      </Suspense>
      {(isAdmin || (isBranch && holdsKey)) && <Ending environment={environment} isAdmin={isAdmin} />}
    </Page>
  )
}

/** The application or group that it belongs to, its slug, and when it ends. */
function Where({ environment }: { environment: Environment }) {
  const { org } = Route.useRouteContext()
  const home = useHome(environment)
  return (
    <Group gap="xs" component="span">
      <Breadcrumbs component="span" separator="/">
        {home && (
          <AnchorLink {...home.link} size="sm">
            {home.name}
          </AnchorLink>
        )}
        <Text span size="sm" className="mono">
          {environment.slug}
        </Text>
      </Breadcrumbs>
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

function useHome({ applicationId, groupId }: Environment) {
  const { org } = Route.useRouteContext()
  const app = useQuery(appsQuery(org.id)).data?.apps.find(({ id }) => id === applicationId)
  const group = useQuery(groupsQuery(org.id)).data?.groups.find(({ id }) => id === groupId)
  if (app) return { name: app.name, link: { to: '/orgs/$org/apps/$app', params: { org: org.slug, app: app.slug } } }
  if (group)
    return { name: group.name, link: { to: '/orgs/$org/groups/$group', params: { org: org.slug, group: group.slug } } }
}

function Ending({ environment, isAdmin }: { environment: Environment; isAdmin: boolean }) {
  const { org } = Route.useRouteContext()
  const navigate = Route.useNavigate()
  const home = useHome(environment)
  const [asking, setAsking] = useState<'rename' | 'delete' | null>(null)
  const params = { orgId: org.id, envId: environment.id }
  const close = () => setAsking(null)
  return (
    <Section title="Name and end">
      <Group gap="xs">
        {isAdmin && (
          <Button variant="default" onClick={() => setAsking('rename')}>
            Rename…
          </Button>
        )}
        <Button variant="default" onClick={() => setAsking('delete')}>
          Delete…
        </Button>
      </Group>
      {asking === 'rename' && (
        <RenameDialog
          title={`Rename ${environment.name}`}
          name={environment.name}
          onClose={close}
          onRename={async (name) => {
            await api.envs.update({ params, body: { name } })
            await outdated({ queryKey: ['orgs', org.id] })
          }}
        />
      )}
      {asking === 'delete' && (
        <ConfirmDelete
          title={`Delete ${environment.name}?`}
          confirm="Delete"
          typed={environment.slug}
          opened
          onClose={close}
          onConfirm={async () => {
            await api.envs.delete({ params })
            await navigate(home?.link ?? { to: '/orgs/$org/apps', params: { org: org.slug } })
            await outdated({ queryKey: ['orgs', org.id] })
          }}
        >
          Its secrets, their history, its branches and everyone’s access to it are deleted. This cannot be undone.
        </ConfirmDelete>
      )}
    </Section>
  )
}
