import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { targetPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { IconTriangleAlert } from '../ui/icons.ts'
import { changedTarget } from './known-targets.ts'

/** Asks about a lease target with changed settings, before a password is made for it. */
export function ChangedTargetDialog() {
  const { name, changes } = changedTarget()
  return (
    <Dialog opened onClose={() => targetPrompt.cancel()} title={`The settings of ${name} have changed`} zIndex={400}>
      <Stack>
        <Alert color="red" variant="light" icon={<IconTriangleAlert size={18} />} role="alert">
          {name} has other settings than before: {changes}.
        </Alert>
        <Text size="sm">
          Someone on your team replaced this target, or the server is trying to collect the password. Nothing has been
          sent yet.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => targetPrompt.cancel()}>
            Cancel
          </Button>
          <Button color="red" onClick={() => targetPrompt.complete()}>
            Use the new settings
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
