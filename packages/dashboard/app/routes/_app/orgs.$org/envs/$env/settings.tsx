import { Box, Button, Text } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../../../../api.ts'
import { useEnvironment, useHoldsKey } from '../../../../../envs/use-environment.ts'
import { useParent } from '../../../../../envs/use-parent.ts'
import { orgQueries } from '../../../../../queries.ts'
import { SettingsRow } from '../../../../../ui/settings-row.tsx'
import { useRenameAndDelete } from '../../../../../ui/use-rename-and-delete.tsx'

export const Route = createFileRoute('/_app/orgs/$org/envs/$env/settings')({ component: EnvironmentSettings })

/** The environment's settings: its name and its deletion. */
function EnvironmentSettings() {
  const { org } = Route.useRouteContext()
  const environment = useEnvironment()
  const holdsKey = useHoldsKey(environment.id)
  const { renaming, deleting } = useDialogs()
  const isAdmin = org.role !== 'member'
  const mayDelete = isAdmin || (environment.parentEnvironmentId !== null && holdsKey)
  return (
    <Box maw={720}>
      <SettingsRow
        title="Name"
        action={
          isAdmin && (
            <Button variant="default" onClick={() => renaming.open()}>
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
            <Button variant="default" onClick={() => deleting.open()}>
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
      {renaming.dialog}
      {deleting.dialog}
    </Box>
  )
}

/** The dialogs that rename and delete the environment. */
function useDialogs() {
  const { org } = Route.useRouteContext()
  const environment = useEnvironment()
  const navigate = Route.useNavigate()
  const parent = useParent(environment)
  const params = { orgId: org.id, envId: environment.id }
  return useRenameAndDelete({
    object: environment,
    onRename: (name) => api.envs.update({ params, body: { name } }),
    question: {
      title: `Delete ${environment.name}?`,
      text: 'Its secrets, their history, its branches and everyone’s access to it are deleted. This cannot be undone.',
    },
    onDelete: async () => {
      const named = environment.parentEnvironmentId === null ? environment.slug : `@${environment.slug}`
      await api.envs.delete({ params }, { typed: { environment: named } })
      await navigate(parent?.link ?? { to: '/orgs/$org/apps', params: { org: org.slug } })
    },
    stale: [orgQueries(org.id)],
  })
}
