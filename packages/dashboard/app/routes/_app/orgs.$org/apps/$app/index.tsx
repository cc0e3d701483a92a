import { Button, Checkbox, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { OwnOverridesOf } from '../../../../../overrides/own-overrides.tsx'
import { EnvironmentsPage, Secrets } from '../../../../../secrets/environments-page.tsx'
import { matrixSearch } from '../../../../../secrets/matrix-search.ts'
import { appBranchesQuery } from '../../../../../secrets/queries.ts'
import { AppTabs, useApp } from '../../../../../secrets/use-app.tsx'
import { type Environment, type EnvironmentWithAccess, useColumns } from '../../../../../secrets/use-columns.ts'
import { IconGitBranch } from '../../../../../ui/icons.ts'
import { MenuItems } from '../../../../../ui/menu-items.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/')({
  validateSearch: matrixSearch,
  component: ApplicationSecrets,
})

const noBranches: Environment[] = []

function ApplicationSecrets() {
  const { org } = Route.useRouteContext()
  const { app, query } = useApp()
  const { data } = useQuery(appBranchesQuery(org.id, app.id))
  return (
    <EnvironmentsPage
      title={app.name}
      list={{ label: 'Applications', to: '/orgs/$org/apps' }}
      tabs={<AppTabs />}
      query={query}
      about="An environment has its own secrets and its own key. Production comes first; others can be copied from it."
      command={`skerry env create production --app ${app.slug}`}
      owner={{ kind: 'application', ...app }}
    >
      {(environments) => (
        <WithBranches key={app.id} environments={environments} branches={data?.branches ?? noBranches} />
      )}
    </EnvironmentsPage>
  )
}

function WithBranches({ environments, branches }: { environments: EnvironmentWithAccess[]; branches: Environment[] }) {
  const { org } = Route.useRouteContext()
  const { app } = Route.useParams()
  const [chosen, setChosen] = useState<string[]>([])
  const shown = useMemo(
    () =>
      environments.flatMap((environment) => [
        environment,
        ...branches.filter(
          ({ id, parentEnvironmentId }) => parentEnvironmentId === environment.id && chosen.includes(id),
        ),
      ]),
    [environments, branches, chosen],
  )
  const columns = useColumns(org.id, shown, environments)
  return (
    <OwnOverridesOf columns={columns}>
      <Secrets
        columns={columns}
        command={`skerry secrets set NAME --app ${app} --env ${environments[0]?.slug}`}
        choices={<Branches branches={branches} chosen={chosen} onChoose={setChosen} />}
      />
    </OwnOverridesOf>
  )
}

function Branches(props: { branches: Environment[]; chosen: string[]; onChoose: (chosen: string[]) => void }) {
  const { branches, chosen, onChoose } = props
  if (branches.length === 0) return null
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconGitBranch size={15} />}>
          {chosen.length === 0 ? 'Branches' : `Branches (${chosen.length})`}
        </Button>
      </Menu.Target>
      <MenuItems mah={320} style={{ overflowY: 'auto' }}>
        <Menu.Label>Show beside their environment</Menu.Label>
        {branches.map(({ id, name, slug }) => (
          <Menu.Item
            key={id}
            aria-label={`${chosen.includes(id) ? 'Hide' : 'Show'} ${slug}`}
            onClick={() => onChoose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])}
            leftSection={<Checkbox.Indicator size="xs" checked={chosen.includes(id)} />}
          >
            {name === slug ? slug : `${name} (${slug})`}
          </Menu.Item>
        ))}
      </MenuItems>
    </Menu>
  )
}
