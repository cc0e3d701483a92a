import { Box, Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../../../../api.ts'
import { appsQuery } from '../../../../../secrets/queries.ts'
import { AppPage, useApp } from '../../../../../secrets/use-app.tsx'
import { Copy } from '../../../../../ui/copy.tsx'
import { ForAdmins } from '../../../../../ui/for-admins.tsx'
import { SettingsRow } from '../../../../../ui/settings-row.tsx'
import { useRenameAndDelete } from '../../../../../ui/use-rename-and-delete.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/settings')({ component: ApplicationSettings })

/** The application's settings: its name, its ID and its deletion. */
function ApplicationSettings() {
  const { app } = useApp()
  const { renaming, deleting } = useDialogs()
  return (
    <AppPage part="Settings" width="text">
      <ForAdmins>
        <Box>
          <SettingsRow
            title="Name"
            action={
              <Button variant="default" onClick={() => renaming.open()}>
                Rename…
              </Button>
            }
          >
            {app.name}. The slug stays <span className="mono">{app.slug}</span>.
          </SettingsRow>
          <SettingsRow title="Id" action={<Copy text={app.id} label="Copy the id" />}>
            <span className="mono">{app.id}</span>
          </SettingsRow>
          <SettingsRow
            title="Delete"
            action={
              <Button variant="default" onClick={() => deleting.open()}>
                Delete…
              </Button>
            }
          >
            Deletes its environments, branches and secrets, their history and everyone’s access.
          </SettingsRow>
        </Box>
        {renaming.dialog}
        {deleting.dialog}
      </ForAdmins>
    </AppPage>
  )
}

/** The dialogs that rename and delete the application. */
function useDialogs() {
  const { org } = Route.useRouteContext()
  const { app } = useApp()
  const navigate = Route.useNavigate()
  const params = { orgId: org.id, appId: app.id }
  return useRenameAndDelete({
    object: app,
    onRename: (name) => api.apps.update({ params, body: { name } }),
    question: {
      title: `Delete the application ${app.name}?`,
      text: 'This also deletes its environments, branches and secrets, their history and everyone’s access. This cannot be undone.',
    },
    onDelete: async () => {
      await api.apps.delete({ params }, { typed: { owner: app.slug } })
      await navigate({ to: '/orgs/$org/apps', params: { org: org.slug } })
    },
    stale: [appsQuery(org.id)],
  })
}
