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
    <Dialog
      opened
      onClose={() => swappedPrompt.cancel()}
      title="This name now belongs to another environment"
      zIndex={400}
    >
      <Stack>
        <Alert color="red" variant="light" icon={<IconTriangleAlert size={18} />} role="alert">
          {name} is not the environment that this browser knows by this name.
        </Alert>
        <Text size="sm">
          Perhaps somebody deleted it and created it again, or gave its name to another environment. Or the server is
          malicious: it wants to read what you are about to encrypt, or to mix up two environments. Ask your team who
          did it. Nothing has been encrypted or granted yet.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => swappedPrompt.cancel()}>
            Cancel
          </Button>
          <Button color="red" onClick={() => swappedPrompt.complete()}>
            Somebody on my team did this
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
