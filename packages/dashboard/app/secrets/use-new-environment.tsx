import { Button } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { IconPlus } from '../ui/icons.ts'
import { useDialog } from '../ui/use-dialog.ts'
import type { EnvironmentOwner } from './new-environment.tsx'

// Loaded when it first opens.
const NewEnvironmentDialog = lazy(async () => ({
  default: (await import('./new-environment.tsx')).NewEnvironmentDialog,
}))

/** Returns the button that creates an environment, and its dialog. Only admins have the button. */
export function useNewEnvironment(owner: EnvironmentOwner) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const creating = useDialog()
  return {
    button: org.role !== 'member' && (
      <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => creating.open()}>
        New environment
      </Button>
    ),
    dialog: (
      <Suspense>
        {creating.show((onClose) => (
          <NewEnvironmentDialog {...{ owner, onClose }} />
        ))}
      </Suspense>
    ),
  }
}
