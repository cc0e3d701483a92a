import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../../api.ts'
import { queryClient } from '../../../../queries.ts'
import { CreateDialog } from '../../../../secrets/named-thing-dialogs.tsx'
import { NamedThings } from '../../../../secrets/named-things.tsx'
import { appsQuery } from '../../../../secrets/queries.ts'
import { Empty } from '../../../../ui/empty.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page } from '../../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(appsQuery(context.org.id)),
  component: Applications,
})

function Applications() {
  const { org } = Route.useRouteContext()
  const navigate = Route.useNavigate()
  const query = useQuery(appsQuery(org.id))
  const [creating, setCreating] = useState(false)
  const mayChange = org.role !== 'member'
  const reload = () => queryClient.invalidateQueries(appsQuery(org.id))
  const newButton = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      New application
    </Button>
  )
  const params = (appId: string) => ({ orgId: org.id, appId })
  return (
    <Page
      title="Applications"
      description="What gets secrets. Each has environments, such as production and staging."
      actions={query.data?.apps.length ? newButton : null}
    >
      <Loaded query={query}>
        {({ apps }) =>
          apps.length === 0 ? (
            <Empty title="No application yet" action={newButton} command={`skerry init --org ${org.slug} --app my-app`}>
              {mayChange
                ? 'Make one here, or run the command in the folder of a project.'
                : 'An administrator of the organization makes the first one.'}
            </Empty>
          ) : (
            <NamedThings
              things={apps}
              what="application"
              linkTo={({ slug }) => ({ to: '/orgs/$org/apps/$app', params: { org: org.slug, app: slug } })}
              mayChange={mayChange}
              deleteMeans="Its environments, branches, secrets, their history and everyone’s access go with it. This cannot be undone."
              onRename={async ({ id }, name) => {
                await api.apps.update({ params: params(id), body: { name } })
                await reload()
              }}
              onDelete={async ({ id }) => {
                await api.apps.delete({ params: params(id) })
                await reload()
              }}
            />
          )
        }
      </Loaded>
      {creating && (
        <CreateDialog
          title="New application"
          placeholder="Web shop"
          onClose={() => setCreating(false)}
          onCreate={async (body) => {
            const { app } = await api.apps.create({ params: { orgId: org.id }, body })
            await reload()
            await navigate({ to: '/orgs/$org/apps/$app', params: { org: org.slug, app: app.slug } })
          }}
        />
      )}
    </Page>
  )
}
