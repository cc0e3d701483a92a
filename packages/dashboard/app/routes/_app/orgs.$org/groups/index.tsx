import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../../../api.ts'
import { NamedThingsPage } from '../../../../secrets/named-things.tsx'
import { groupQuery, groupsQuery } from '../../../../secrets/queries.ts'

export const Route = createFileRoute('/_app/orgs/$org/groups/')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(groupsQuery(context.org.id)),
  component: Groups,
})

function useEnvironments(id: string, isInSight: boolean) {
  const { org } = Route.useRouteContext()
  return useQuery({ ...groupQuery(org.id, id), enabled: isInSight }).data?.environments
}

function Groups() {
  const { org } = Route.useRouteContext()
  return (
    <NamedThingsPage
      what="group"
      title="Groups"
      description="Secrets that several applications share. An application’s environment gets the secrets of the group’s environment with the same slug."
      query={useQuery(groupsQuery(org.id))}
      thingsOf={({ groups }) => groups}
      begin="Put secrets that several applications need into one group instead of copying them."
      command={`skerry group create shared --org ${org.slug}`}
      placeholder="Shared"
      linkTo={(slug) => ({ to: '/orgs/$org/groups/$group', params: { org: org.slug, group: slug } })}
      deleteMeans="This also deletes its environments and secrets. Applications that use the group no longer get them. This cannot be undone."
      useEnvironments={useEnvironments}
      onCreate={(body) => api.groups.create({ params: { orgId: org.id }, body })}
      onRename={(groupId, name) => api.groups.update({ params: { orgId: org.id, groupId }, body: { name } })}
      onDelete={(groupId, owner) => api.groups.delete({ params: { orgId: org.id, groupId } }, { typed: { owner } })}
      stale={[groupsQuery(org.id)]}
    />
  )
}
