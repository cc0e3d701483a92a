import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { openDirectory } from '@skerry/sdk/internal/directory/open'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { KeyringError, keyring } from '../keyring.ts'
import { pinPrompt } from '../prompts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { goOnUnsigned, pinQuestion } from './ask.ts'
import { rememberDirectory } from './known.ts'
import { readably } from './signatory.ts'

/** Asks a signer for the pin with which this browser starts to verify the directory. */
export function PinDialog() {
  const [text, setText] = useState('')
  const verify = useAction(() => verifyFrom(text), { done: () => pinPrompt.complete() })
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

async function verifyFrom(text: string): Promise<void> {
  const orgId = pinQuestion()
  const pin = await keyring.callLocked('parsePin', { text: text.trim() })
  const directory = await readably(() => openDirectory(api, orgId, { known: null, pins: [pin] }))
  if (directory === null) throw new KeyringError('directory_rolled_back', 'The server shows no signed directory')
  rememberDirectory(orgId, directory.known)
}
