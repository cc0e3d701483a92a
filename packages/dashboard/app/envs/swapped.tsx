import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { swappedPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { IconTriangleAlert } from '../ui/icons.ts'
import { swappedName } from './meanings.ts'

/**
 * Asks about a name that now belongs to another environment, before anything is sealed for it or its key is wrapped.
 */
export function SwappedDialog() {
  const name = swappedName()
  return (
    <Dialog opened onClose={() => swappedPrompt.cancel()} title="This is another environment than before" zIndex={400}>
      <Stack>
        <Alert color="red" variant="light" icon={<IconTriangleAlert size={18} />} role="alert">
          {name} means another environment than the one that this browser knows by that name.
        </Alert>
        <Text size="sm">
          Perhaps somebody deleted it and made it anew, or gave its name to another. Or the server is lying: it wants
          what you are about to seal, or it wants you to copy the values of another environment. Ask who did it. Nothing
          has been sealed or granted yet.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => swappedPrompt.cancel()}>
            Cancel
          </Button>
          <Button color="red" onClick={() => swappedPrompt.complete()}>
            Somebody meant it
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
