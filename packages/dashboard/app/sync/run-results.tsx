import { Alert, Stack, Text } from '@mantine/core'
import { IconTriangleAlert } from '../ui/icons.ts'
import { Names, Reasons } from './plan-view.tsx'
import type { Run } from './queries.ts'
import { countsText } from './words.ts'

/** Shows what a run did to each name. */
export function RunResults({ run }: { run: Run }) {
  const { pushed, deleted, skipped, failures, error } = run
  return (
    <Stack gap="sm">
      {error !== null && (
        <Alert color="red" variant="light" icon={<IconTriangleAlert size={18} />} title="The run ended early">
          {error}
        </Alert>
      )}
      <Text size="sm">{countsText(run)}</Text>
      <Names title="Pushed" names={pushed} />
      <Names title="Deleted there" names={deleted} />
      <Reasons title="Left alone" failures={skipped} />
      <Reasons title="Failed" failures={failures} />
    </Stack>
  )
}
