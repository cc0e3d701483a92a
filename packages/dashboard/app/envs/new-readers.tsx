import { Alert, Button, Group, ScrollArea, Stack, Text } from '@mantine/core'
import { readersPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { IconTriangleAlert } from '../ui/icons.ts'
import { Words } from './fingerprint.tsx'
import { readersQuestion } from './known-readers.ts'

/** Asked before a key is wrapped to readers that the server lists and this browser does not know. */
export function NewReadersDialog() {
  const { what, readers } = readersQuestion()
  const count = readers.length === 1 ? '1 reader is' : `${readers.length} readers are`
  return (
    <Dialog opened onClose={() => readersPrompt.cancel()} title="Readers that are new here" size="lg" zIndex={400}>
      <Stack>
        <Alert color="orange" variant="light" icon={<IconTriangleAlert size={18} />} role="alert">
          {count} new to this browser and would get {what}. Only the server says that they belong there.
        </Alert>
        <ScrollArea.Autosize mah={320}>
          <Stack gap="sm">
            {readers.map(({ name, words }) => (
              <Stack key={`${name} ${words}`} gap={4}>
                <Text size="sm" fw={500}>
                  {name}
                </Text>
                <Words words={words} label={`Fingerprint of the key of ${name}`} />
              </Stack>
            ))}
          </Stack>
        </ScrollArea.Autosize>
        <Text size="sm">
          Compare the words with their owners, over the phone or in person. Cancel if you do not know one of them.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => readersPrompt.cancel()}>
            Cancel
          </Button>
          <Button color="red" onClick={() => readersPrompt.complete()}>
            {readers.length === 1 ? 'Accept this reader' : `Accept these ${readers.length} readers`}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
