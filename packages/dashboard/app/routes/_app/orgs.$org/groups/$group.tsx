import { useQuery } from '@tanstack/react-query'
import { createFileRoute, notFound } from '@tanstack/react-router'
import { EnvironmentsPage, Secrets } from '../../../../secrets/environments-page.tsx'
import { matrixSearch } from '../../../../secrets/matrix-search.ts'
import { groupQuery, groupsQuery } from '../../../../secrets/queries.ts'
import { type EnvironmentWithAccess, useColumns } from '../../../../secrets/use-columns.ts'

export const Route = createFileRoute('/_app/orgs/$org/groups/$group')({
  validateSearch: matrixSearch,
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
  return (
    <EnvironmentsPage
      title={query.data?.group.name ?? group.name}
      list={{ label: 'Groups', to: '/orgs/$org/groups' }}
      query={query}
      about="An application’s environment gets the secrets of the group’s environment with the same slug."
      command={`skerry env create production --group ${group.slug}`}
      owner={{ kind: 'group', ...group, ...query.data?.group }}
    >
      {(environments) => <GroupSecrets key={group.id} environments={environments} />}
    </EnvironmentsPage>
  )
}

function GroupSecrets({ environments }: { environments: EnvironmentWithAccess[] }) {
  const { org } = Route.useRouteContext()
  const { group } = Route.useParams()
  return (
    <Secrets
      columns={useColumns(org.id, environments, environments)}
      command={`skerry secrets set NAME --group ${group} --env ${environments[0]?.slug}`}
    />
  )
}
