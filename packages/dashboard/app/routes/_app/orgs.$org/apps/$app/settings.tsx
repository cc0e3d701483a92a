import { Box, Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../../../api.ts'
import { invalidate } from '../../../../../queries.ts'
import { appsQuery } from '../../../../../secrets/queries.ts'
import { AppTabs, useApp } from '../../../../../secrets/use-app.tsx'
import { ConfirmDelete } from '../../../../../ui/confirm-delete.tsx'
import { Copy } from '../../../../../ui/copy.tsx'
import { ForAdmins } from '../../../../../ui/for-admins.tsx'
import { AnchorLink } from '../../../../../ui/links.tsx'
import { Page } from '../../../../../ui/page.tsx'
import { RenameDialog } from '../../../../../ui/rename-dialog.tsx'
import { SettingsRow } from '../../../../../ui/settings-row.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/settings')({ component: ApplicationSettings })

/** An application's name and id, and its deletion. */
function ApplicationSettings() {
  const { org } = Route.useRouteContext()
  const { app } = useApp()
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null)
  return (
    <Page
      title={app.name}
      part="Settings"
      width="wide"
      description={
        <AnchorLink to="/orgs/$org/apps" params={{ org: org.slug }} size="sm">
          Applications
        </AnchorLink>
      }
      tabs={<AppTabs />}
    >
      <ForAdmins>
        <Box maw={720}>
          <SettingsRow
            title="Name"
            action={
              <Button variant="default" onClick={() => setDialog('rename')}>
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
              <Button variant="default" onClick={() => setDialog('delete')}>
                Delete…
              </Button>
            }
          >
            Deletes its environments, branches and secrets, their history and everyone’s access.
          </SettingsRow>
        </Box>
        <Dialogs dialog={dialog} onClose={() => setDialog(null)} />
      </ForAdmins>
    </Page>
  )
}

function Dialogs({ dialog, onClose }: { dialog: 'rename' | 'delete' | null; onClose: () => void }) {
  const { org } = Route.useRouteContext()
  const { app } = useApp()
  const navigate = Route.useNavigate()
  const params = { orgId: org.id, appId: app.id }
  const rename = async (name: string) => {
    await api.apps.update({ params, body: { name } })
    await invalidate(appsQuery(org.id))
  }
  const remove = async () => {
    await api.apps.delete({ params })
    await navigate({ to: '/orgs/$org/apps', params: { org: org.slug } })
    await invalidate(appsQuery(org.id))
  }
  if (dialog === 'rename')
    return <RenameDialog name={app.name} description="The slug stays as it is." onRename={rename} onClose={onClose} />
  if (dialog === null) return null
  return (
    <ConfirmDelete
      title={`Delete the application ${app.name}?`}
      confirm="Delete"
      typed={app.slug}
      onClose={onClose}
      onConfirm={remove}
    >
      Its environments, branches, secrets, their history and everyone’s access go with it. This cannot be undone.
    </ConfirmDelete>
  )
}
