import { Button } from '@mantine/core'
import type { apps } from '@skerry/contract/apps/endpoints'
import type { Body } from '@skerry/contract/endpoint'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Stale } from '../queries.ts'
import { IconPlus } from '../ui/icons.ts'
import { useDialog } from '../ui/use-dialog.ts'

// Loaded when it first opens.
const NewEnvironmentDialog = lazy(async () => ({
  default: (await import('./new-environment.tsx')).NewEnvironmentDialog,
}))

/** Returns the button that creates an environment, and its dialog. Only admins have the button. */
export function useNewEnvironment(settings: {
  onCreate: (body: Body<typeof apps.createEnv>) => Promise<unknown>
  stale: readonly Stale[]
}) {
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
          <NewEnvironmentDialog onClose={onClose} {...settings} />
        ))}
      </Suspense>
    ),
  }
}
