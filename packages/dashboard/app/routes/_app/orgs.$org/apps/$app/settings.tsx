import { Box, Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../../../../api.ts'
import { appsQuery } from '../../../../../secrets/queries.ts'
import { AppPage, useApp } from '../../../../../secrets/use-app.tsx'
import { Copy } from '../../../../../ui/copy.tsx'
import { ForAdmins } from '../../../../../ui/for-admins.tsx'
import { RenameDialog } from '../../../../../ui/rename-dialog.tsx'
import { SettingsRow } from '../../../../../ui/settings-row.tsx'
import { useConfirm } from '../../../../../ui/use-confirm.tsx'
import { useDialog } from '../../../../../ui/use-dialog.ts'

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
  const stale = [appsQuery(org.id)]
  const { open, show } = useDialog()
  const dialog = show((onClose) => (
    <RenameDialog
      name={app.name}
      description="The slug stays as it is."
      onRename={(name) => api.apps.update({ params, body: { name } })}
      stale={stale}
      onClose={onClose}
    />
  ))
  const deleting = useConfirm(() => ({
    title: `Delete the application ${app.name}?`,
    text: 'This also deletes its environments, branches and secrets, their history and everyone’s access. This cannot be undone.',
    confirm: 'Delete',
    typed: app.slug,
    onConfirm: async () => {
      await api.apps.delete({ params }, { typed: { owner: app.slug } })
      await navigate({ to: '/orgs/$org/apps', params: { org: org.slug } })
    },
    stale,
  }))
  return { renaming: { open, dialog }, deleting }
}
