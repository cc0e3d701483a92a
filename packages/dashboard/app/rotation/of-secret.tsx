import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { rotationFacts } from '@skerry/contract/rotation/facts'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { durationText } from '../ui/durations.ts'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { type Rotation, rotationsQuery } from './queries.ts'
import { useRotationActions } from './rotation-list.tsx'
import { RotationState } from './state.tsx'

// This part of the page is loaded when it first opens.
const NewRotationDialog = lazy(async () => ({ default: (await import('./new-rotation.tsx')).NewRotationDialog }))

/** Shows the rotation of a secret with its actions, or offers to create one. */
export function RotationOfSecret({ environmentId, secretName }: { environmentId: string; secretName: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(rotationsQuery(org.id))
  const creating = useDialog()
  return (
    <Stack gap="xs">
      <Title order={2}>Rotation</Title>
      <Loaded query={query}>
        {(rotations) => {
          const found = rotations.find((one) => one.environmentId === environmentId && one.secretName === secretName)
          if (found) return <Policy rotation={found} />
          return (
            <Group>
              <Text size="sm" c="dimmed" flex={1}>
                This value is not rotated.
              </Text>
              <Button size="xs" variant="default" onClick={() => creating.open()}>
                Rotate at intervals…
              </Button>
            </Group>
          )
        }}
      </Loaded>
      <Suspense>
        {creating.show((onClose) => (
          <NewRotationDialog of={{ environmentId, secretName }} onClose={onClose} />
        ))}
      </Suspense>
    </Stack>
  )
}

function Policy({ rotation }: { rotation: Rotation }) {
  const { actions, problem, dialog } = useRotationActions()
  const { kind, intervalSeconds, lastRunAt, nextRunAt } = rotation
  return (
    <Stack gap="xs">
      <div>
        <RotationState rotation={rotation} />
      </div>
      <Text size="sm" component="div">
        {rotationFacts[kind].label}, every {durationText(intervalSeconds)}. Last run: <RelativeTime at={lastRunAt} />.
        Next: {nextRunAt === null ? 'when resumed' : <RelativeTime at={nextRunAt} />}.
      </Text>
      <Group gap="xs">
        {actions(rotation).map(({ label, danger, disabled = false, onClick }) => (
          <Button
            key={label}
            size="xs"
            variant={danger ? 'subtle' : 'default'}
            {...(danger ? { color: 'red' } : {})}
            disabled={disabled}
            onClick={onClick}
          >
            {label}
          </Button>
        ))}
      </Group>
      <ProblemAlert error={problem} />
      {dialog}
    </Stack>
  )
}
