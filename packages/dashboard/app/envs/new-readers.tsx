import { Alert, Button, Group, ScrollArea, Stack, Text } from '@mantine/core'
import { readersPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { IconTriangleAlert } from '../ui/icons.ts'
import { Words } from './fingerprint.tsx'
import { readersQuestion } from './known-readers.ts'

/** Asks about readers that the server lists and this browser does not know, before a key is wrapped to them. */
export function NewReadersDialog() {
  const { what, readers } = readersQuestion()
  const isOne = readers.length === 1
  const them = isOne ? 'a reader' : `${readers.length} readers`
  return (
    <Dialog opened onClose={() => readersPrompt.cancel()} title="Confirm new readers" size="lg" zIndex={400}>
      <Stack>
        <Alert color="orange" variant="light" icon={<IconTriangleAlert size={18} />} role="alert">
          {`${what.charAt(0).toUpperCase()}${what.slice(1)} would also go to ${them} that you have not accepted in this browser.`}{' '}
          Check that the server did not add {isOne ? 'it' : 'them'}.
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
            {isOne ? 'Accept this reader' : `Accept these ${readers.length} readers`}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
