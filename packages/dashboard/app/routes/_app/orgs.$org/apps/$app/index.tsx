import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { OwnOverridesOf } from '../../../../../overrides/own-overrides.tsx'
import { EnvironmentsPage, Secrets } from '../../../../../secrets/environments-page.tsx'
import { matrixSearch } from '../../../../../secrets/matrix-search.ts'
import { appBranchesQuery } from '../../../../../secrets/queries.ts'
import { AppTabs, useApp } from '../../../../../secrets/use-app.tsx'
import { type Environment, type EnvironmentWithAccess, useColumns } from '../../../../../secrets/use-columns.ts'

// Loaded after the page, which is near the limit of a first load.
const Branches = lazy(async () => ({ default: (await import('../../../../../secrets/branches.tsx')).Branches }))

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
        choices={
          <Suspense>
            <Branches branches={branches} chosen={chosen} onChoose={setChosen} />
          </Suspense>
        }
      />
    </OwnOverridesOf>
  )
}
