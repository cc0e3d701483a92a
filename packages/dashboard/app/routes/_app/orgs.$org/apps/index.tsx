import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../../../api.ts'
import { NamedThingsPage } from '../../../../secrets/named-things.tsx'
import { appQuery, appsQuery } from '../../../../secrets/queries.ts'

export const Route = createFileRoute('/_app/orgs/$org/apps/')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(appsQuery(context.org.id)),
  component: Applications,
})

function useEnvironments(id: string, isInSight: boolean) {
  const { org } = Route.useRouteContext()
  return useQuery({ ...appQuery(org.id, id), enabled: isInSight }).data?.environments
}

function Applications() {
  const { org } = Route.useRouteContext()
  return (
    <NamedThingsPage
      what="application"
      title="Applications"
      description="The programs that get secrets. Each has environments, such as production and staging."
      query={useQuery(appsQuery(org.id))}
      thingsOf={({ apps }) => apps}
      begin="Create one here, or run the command in a project’s folder."
      command={`skerry init --org ${org.slug} --app my-app`}
      placeholder="Web shop"
      linkTo={(slug) => ({ to: '/orgs/$org/apps/$app', params: { org: org.slug, app: slug } })}
      deleteMeans="This also deletes its environments, branches and secrets, their history and everyone’s access. This cannot be undone."
      useEnvironments={useEnvironments}
      onCreate={(body) => api.apps.create({ params: { orgId: org.id }, body })}
      onRename={(appId, name) => api.apps.update({ params: { orgId: org.id, appId }, body: { name } })}
      onDelete={(appId, owner) => api.apps.delete({ params: { orgId: org.id, appId } }, { typed: { owner } })}
      stale={[appsQuery(org.id)]}
    />
  )
}
