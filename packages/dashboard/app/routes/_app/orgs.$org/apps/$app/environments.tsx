import { Badge, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { queuedQuery } from '../../../../../secrets/protected.ts'
import { AppPage, useApp } from '../../../../../secrets/use-app.tsx'
import type { EnvironmentWithAccess } from '../../../../../secrets/use-columns.ts'
import { useNewEnvironment } from '../../../../../secrets/use-new-environment.tsx'
import { Empty } from '../../../../../ui/empty.tsx'
import { EnvName } from '../../../../../ui/env-name.tsx'
import { AnchorLink } from '../../../../../ui/links.tsx'
import { List, type ListColumn } from '../../../../../ui/list.tsx'
import { timeColumn } from '../../../../../ui/relative-time.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/environments')({ component: Environments })

/** The environments of the application: who may change what, and whether this person can read it. */
function Environments() {
  const { org } = Route.useRouteContext()
  const { app, query } = useApp()
  const { button, dialog } = useNewEnvironment({ kind: 'application', ...app })
  const environments = query.data?.environments ?? []
  const queues = useQueries({ queries: environments.map(({ id }) => queuedQuery(org.id, id)) })
  const isProtected = new Set(environments.filter((_, i) => queues[i]?.data?.isProtected).map(({ id }) => id))
  return (
    <AppPage part="Environments" actions={query.data?.environments.length ? button : null}>
      <List
        label="Environments"
        query={query}
        rows={(data) => data.environments}
        columns={columnsOf(org.slug, isProtected)}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        empty={
          <Empty title="No environment yet" action={button} command={`skerry env create production --app ${app.slug}`}>
            An environment has its own secrets and its own key.
          </Empty>
        }
      />
      {dialog}
    </AppPage>
  )
}

const columnsOf = (org: string, isProtected: ReadonlySet<string>): ListColumn<EnvironmentWithAccess>[] => [
  {
    header: 'Environment',
    cell: ({ id, name, slug }) => (
      <AnchorLink to="/orgs/$org/envs/$env" params={{ org, env: id }}>
        <EnvName name={name} slug={slug} />
      </AnchorLink>
    ),
    sort: ({ name }) => name,
  },
  { header: 'Slug', cell: ({ slug }) => <span className="mono">{slug}</span>, sort: ({ slug }) => slug },
  {
    header: 'Changes',
    cell: ({ id }) =>
      isProtected.has(id) ? <Badge color="yellow">need approval</Badge> : <Text size="sm">take effect at once</Text>,
  },
  { header: 'You', cell: ({ canDecrypt }) => (canDecrypt ? 'can read it' : 'hold no key'), width: 130 },
  timeColumn('Changed', 'updatedAt', 150),
]
