import { Box, Button, Text } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../../../api.ts'
import { useEnvironment, useHoldsKey } from '../../../../../envs/use-environment.ts'
import { useParent } from '../../../../../envs/use-parent.ts'
import { invalidate } from '../../../../../queries.ts'
import { ConfirmDelete } from '../../../../../ui/confirm-delete.tsx'
import { RenameDialog } from '../../../../../ui/rename-dialog.tsx'
import { SettingsRow } from '../../../../../ui/settings-row.tsx'

export const Route = createFileRoute('/_app/orgs/$org/envs/$env/settings')({ component: EnvironmentSettings })

/** An environment's name, and its deletion. */
function EnvironmentSettings() {
  const { org } = Route.useRouteContext()
  const environment = useEnvironment()
  const holdsKey = useHoldsKey(environment.id)
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null)
  const isAdmin = org.role !== 'member'
  const mayDelete = isAdmin || (environment.parentEnvironmentId !== null && holdsKey)
  return (
    <Box maw={720}>
      <SettingsRow
        title="Name"
        action={
          isAdmin && (
            <Button variant="default" onClick={() => setDialog('rename')}>
              Rename…
            </Button>
          )
        }
      >
        {environment.name}. The slug stays <span className="mono">{environment.slug}</span>.
      </SettingsRow>
      {mayDelete ? (
        <SettingsRow
          title="Delete"
          action={
            <Button variant="default" onClick={() => setDialog('delete')}>
              Delete…
            </Button>
          }
        >
          Deletes its secrets, their history, its branches and everyone’s access to it.
        </SettingsRow>
      ) : (
        <Text size="sm" c="dimmed">
          Owners and admins can rename and delete environments.
        </Text>
      )}
      <Dialogs dialog={dialog} onClose={() => setDialog(null)} />
    </Box>
  )
}

function Dialogs({ dialog, onClose }: { dialog: 'rename' | 'delete' | null; onClose: () => void }) {
  const { org } = Route.useRouteContext()
  const environment = useEnvironment()
  const navigate = Route.useNavigate()
  const parent = useParent(environment)
  const params = { orgId: org.id, envId: environment.id }
  const reload = () => invalidate({ queryKey: ['orgs', org.id] })
  const rename = async (name: string) => {
    await api.envs.update({ params, body: { name } })
    await reload()
  }
  const remove = async () => {
    await api.envs.delete({ params })
    await navigate(parent?.link ?? { to: '/orgs/$org/apps', params: { org: org.slug } })
    await reload()
  }
  if (dialog === 'rename')
    return (
      <RenameDialog
        name={environment.name}
        description="The slug stays as it is."
        onRename={rename}
        onClose={onClose}
      />
    )
  if (dialog === null) return null
  return (
    <ConfirmDelete
      title={`Delete ${environment.name}?`}
      confirm="Delete"
      typed={environment.slug}
      onClose={onClose}
      onConfirm={remove}
    >
      Its secrets, their history, its branches and everyone’s access to it are deleted. This cannot be undone.
    </ConfirmDelete>
  )
}
