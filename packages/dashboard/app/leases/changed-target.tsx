import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { targetPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { IconTriangleAlert } from '../ui/icons.ts'
import { changedTarget } from './known-targets.ts'

/** Asked before a password is made for a lease target that has other settings than before. */
export function ChangedTargetDialog() {
  const { name, changes } = changedTarget()
  return (
    <Dialog opened onClose={() => targetPrompt.cancel()} title="This target is set up otherwise" zIndex={400}>
      <Stack>
        <Alert color="red" variant="light" icon={<IconTriangleAlert size={18} />} role="alert">
          {name} has other settings than before: {changes}.
        </Alert>
        <Text size="sm">
          Somebody removed it and added it anew; or the server is lying, to get the password. Ask who did it. Nothing
          has been sent yet.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => targetPrompt.cancel()}>
            Cancel
          </Button>
          <Button color="red" onClick={() => targetPrompt.complete()}>
            Somebody meant it
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
