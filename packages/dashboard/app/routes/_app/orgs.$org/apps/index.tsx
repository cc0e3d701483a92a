import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../../../api.ts'
import { invalidate } from '../../../../queries.ts'
import { NamedThingsPage } from '../../../../secrets/named-things.tsx'
import { appsQuery } from '../../../../secrets/queries.ts'

export const Route = createFileRoute('/_app/orgs/$org/apps/')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(appsQuery(context.org.id)),
  component: Applications,
})

function Applications() {
  const { org } = Route.useRouteContext()
  const reload = () => invalidate(appsQuery(org.id))
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
      deleteMeans="Its environments, branches, secrets, their history and everyone’s access go with it. This cannot be undone."
      onCreate={async (body) => {
        await api.apps.create({ params: { orgId: org.id }, body })
        await reload()
      }}
      onRename={async (appId, name) => {
        await api.apps.update({ params: { orgId: org.id, appId }, body: { name } })
        await reload()
      }}
      onDelete={async (appId) => {
        await api.apps.delete({ params: { orgId: org.id, appId } })
        await reload()
      }}
    />
  )
}
