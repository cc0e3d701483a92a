import { Alert, Button, Code, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { Form } from '../ui/form.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { knownDirectory } from './known.ts'

// Signatures are verified by code that only this page and signers need.
const load = () => import('./start.ts')

/** The signed directory as this browser knows it: the pin with which it starts, and a new start after an older backup. */
export function DirectoryPage() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [known, setKnown] = useState(() => knownDirectory(org.id))
  const onVerified = () => setKnown(knownDirectory(org.id))
  return (
    <>
      <Section
        title="This browser"
        description="With a pin, this browser compares keys, readers and environments with what people of your organization signed."
      >
        <Paper>
          <Stack>
            <Text size="sm">
              {known
                ? `This browser verifies the directory of ${org.name}: root ${known.root.version}, head ${known.head.version}.`
                : `This browser has no pin of ${org.name}. It believes the server until you give it one.`}
            </Text>
            <PinForm orgId={org.id} onVerified={onVerified} />
          </Stack>
        </Paper>
      </Section>
      {known && (
        <Section
          title="After an older backup"
          description="Only if the operator has restored an older backup of the server."
        >
          <RestoredForm org={org} />
        </Section>
      )}
    </>
  )
}

interface Props {
  onVerified: () => void
}

function PinForm({ orgId, onVerified }: Props & { orgId: string }) {
  const [text, setText] = useState('')
  const verify = useAction(async () => (await load()).trustPin(orgId, text), {
    done: () => {
      setText('')
      onVerified()
      showToast('This browser trusts the directory of this pin now.')
    },
  })
  return (
    <Form onSubmit={() => verify.run()}>
      <Stack>
        <PinInput label="Pin" value={text} onChange={setText} />
        <Text size="sm" c="dimmed">
          Ask a colleague for it, and not the server. <Code>skerry trust pin</Code> prints the pin. The file{' '}
          <Code>skerry.json</Code> of a project has it, too.
        </Text>
        <ProblemAlert error={verify.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={verify.pending} disabled={text.trim() === ''}>
            Verify
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

function RestoredForm({ org }: { org: { id: string; slug: string } }) {
  const [text, setText] = useState('')
  const [typed, setTyped] = useState('')
  const restart = useAction(async () => (await load()).startAgain(org.id, text), {
    done: () => {
      // The page has verified a newer directory, and would sign after that one.
      location.reload()
    },
  })
  return (
    <Paper>
      <Form onSubmit={() => restart.run()}>
        <Stack>
          <Alert color="red" variant="light" title="An attack looks the same">
            A server that shows an older directory may hide a removed reader or a new key. First ask the operator
            whether a backup was restored. Then get the pin from a colleague. This browser forgets the newer directory
            that it saw.
          </Alert>
          <PinInput label="Pin of the restored directory" value={text} onChange={setText} />
          <TextInput
            label={`Type ${org.slug}`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
          />
          <ProblemAlert error={restart.error} />
          <Group justify="flex-end">
            <Button
              type="submit"
              color="red"
              loading={restart.pending}
              disabled={text.trim() === '' || typed.trim() !== org.slug}
            >
              Continue from the older directory
            </Button>
          </Group>
        </Stack>
      </Form>
    </Paper>
  )
}

function PinInput(props: { label: string; value: string; onChange: (value: string) => void }) {
  const { label, value, onChange } = props
  return (
    <TextInput
      label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoComplete="off"
      spellCheck={false}
    />
  )
}
