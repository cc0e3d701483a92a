import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../../api.ts'
import { queryClient } from '../../../../queries.ts'
import { CreateDialog } from '../../../../secrets/named-thing-dialogs.tsx'
import { NamedThings } from '../../../../secrets/named-things.tsx'
import { groupsQuery } from '../../../../secrets/queries.ts'
import { Empty } from '../../../../ui/empty.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page } from '../../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/groups/')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(groupsQuery(context.org.id)),
  component: Groups,
})

function Groups() {
  const { org } = Route.useRouteContext()
  const navigate = Route.useNavigate()
  const query = useQuery(groupsQuery(org.id))
  const [creating, setCreating] = useState(false)
  const mayChange = org.role !== 'member'
  const reload = () => queryClient.invalidateQueries(groupsQuery(org.id))
  const newButton = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      New group
    </Button>
  )
  const params = (groupId: string) => ({ orgId: org.id, groupId })
  return (
    <Page
      title="Groups"
      description="Secrets that several applications share. A group is composed into an application’s environment of the same slug."
      actions={query.data?.groups.length ? newButton : null}
    >
      <Loaded query={query}>
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty title="No group yet" action={newButton} command={`skerry group create shared --org ${org.slug}`}>
              {mayChange
                ? 'Put what several applications need into one, instead of copying it into each.'
                : 'An administrator of the organization makes the first one.'}
            </Empty>
          ) : (
            <NamedThings
              things={groups}
              what="group"
              linkTo={({ slug }) => ({ to: '/orgs/$org/groups/$group', params: { org: org.slug, group: slug } })}
              mayChange={mayChange}
              deleteMeans="Its environments and secrets go with it, and applications that it is composed into no longer get them. This cannot be undone."
              onRename={async ({ id }, name) => {
                await api.groups.update({ params: params(id), body: { name } })
                await reload()
              }}
              onDelete={async ({ id }) => {
                await api.groups.delete({ params: params(id) })
                await reload()
              }}
            />
          )
        }
      </Loaded>
      {creating && (
        <CreateDialog
          title="New group"
          placeholder="Shared"
          onClose={() => setCreating(false)}
          onCreate={async (body) => {
            const { group } = await api.groups.create({ params: { orgId: org.id }, body })
            await reload()
            await navigate({ to: '/orgs/$org/groups/$group', params: { org: org.slug, group: group.slug } })
          }}
        />
      )}
    </Page>
  )
}
