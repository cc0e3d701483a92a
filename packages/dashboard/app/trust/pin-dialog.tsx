import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { pinPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { goOnUnsigned, pinQuestion } from './ask.ts'
import { trustPin } from './start.ts'

/** Asks a signer for the pin with which this browser starts to verify the directory. */
export function PinDialog() {
  const [text, setText] = useState('')
  const verify = useAction(() => trustPin(pinQuestion(), text), { done: () => pinPrompt.complete() })
  return (
    <Dialog opened onClose={() => pinPrompt.cancel()} title="Sign this change" zIndex={400} closeOnClickOutside={false}>
      <Form onSubmit={() => verify.run()}>
        <Stack>
          <Text size="sm">
            Your organization has a signed directory, and you are one of its signers. This browser does not know the
            directory yet. Give it the pin, so that a server cannot show it another one. <Code>skerry trust pin</Code>{' '}
            prints the pin. The file <Code>skerry.json</Code> of a project has it, too.
          </Text>
          <TextInput
            label="Pin"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <ProblemAlert error={verify.error} />
          <Group justify="space-between">
            <Button variant="subtle" disabled={verify.pending} onClick={goOnUnsigned}>
              Go on without signing
            </Button>
            <Group>
              <Button variant="default" disabled={verify.pending} onClick={() => pinPrompt.cancel()}>
                Cancel
              </Button>
              <Button type="submit" loading={verify.pending} disabled={text.trim() === ''}>
                Verify and sign
              </Button>
            </Group>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}
