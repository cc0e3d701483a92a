import './kit.css'
import { Button, Group, Portal, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { isUnlocked, KeyringError, keyring, usePlaintext, useUnlocked } from '../keyring.ts'
import { IconDownload, IconPrinter } from '../ui/icons.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import { saveText } from '../ui/save-text.ts'
import { recoveryKitQuery } from './queries.ts'

interface Person {
  userId: string
  email: string
  publicKeyJwk: string
}

/**
 * Makes a recovery kit and shows its code. Downloading or printing the kit stores it, in place of an earlier one: until
 * then the code opens nothing.
 */
export function NewKit({ person, onSaved }: { person: Person; onSaved?: () => void }) {
  const { userId, email, publicKeyJwk } = person
  const unlocked = useUnlocked()
  const [kit, setKit] = usePlaintext<{ code: string; encryptedPrivateKey: string } | null>(null)
  const unlock = useAction(() => keyring.unlock())
  const make = useAction(async () => setKit(await keyring.call('makeKitCode', { userId })))
  const { run } = make
  useEffect(() => {
    if (unlocked) void run()
  }, [unlocked, run])
  const save = useAction(
    async (keep: (code: string) => void) => {
      if (kit === null) return
      await api.recoveryKit.put({ body: { encryptedPrivateKey: kit.encryptedPrivateKey, publicKeyJwk } })
      // The keyring may have locked during the request, and forgotten the code.
      if (!isUnlocked()) throw new KeyringError('locked', 'the keyring has been locked')
      keep(kit.code)
    },
    { stale: [recoveryKitQuery], ...(onSaved ? { done: onSaved } : {}) },
  )
  if (!unlocked)
    return (
      <Group>
        <Button variant="default" onClick={() => unlock.run()}>
          Unlock to make the kit
        </Button>
      </Group>
    )
  return (
    <Stack gap="sm">
      <Text size="sm">
        The code opens your keyring if you lose the passphrase. Keep it where you keep your passport. Anyone who has it
        and can sign in as you can read what you can read.
      </Text>
      <div className="kit-code" aria-live="polite">
        {kit && (
          <span className="mono" role="img" aria-label={`Code of the recovery kit: ${kit.code}`}>
            {kit.code}
          </span>
        )}
      </div>
      <ProblemAlert error={make.error ?? save.error} />
      <Group gap="sm">
        <Button
          leftSection={<IconDownload size={16} />}
          disabled={kit === null}
          loading={save.pending}
          onClick={() => save.run((code) => download(email, code))}
        >
          Download the kit
        </Button>
        <Button
          variant="default"
          leftSection={<IconPrinter size={16} />}
          disabled={kit === null || save.pending}
          onClick={() => save.run(() => print())}
        >
          Print the kit
        </Button>
      </Group>
      {kit && (
        <Portal>
          <Sheet email={email} code={kit.code} />
        </Portal>
      )}
    </Stack>
  )
}

const use =
  'To use it, sign in, unlock your keyring with “Use the recovery kit”, type the code, and choose a new passphrase.'

const madeOn = () => new Date().toLocaleDateString('en', { dateStyle: 'long' })

/** The kit as a page. It is shown on paper only. */
function Sheet({ email, code }: { email: string; code: string }) {
  return (
    <div className="printed" aria-hidden>
      <Title order={1} mb="md">
        Skerry recovery kit
      </Title>
      <Text>
        {email} at {location.origin}, made on {madeOn()}
      </Text>
      <Title order={2} mt="lg">
        Code
      </Title>
      <Text className="mono" fz={20}>
        {code}
      </Text>
      <Text mt="lg">{use}</Text>
      <Text mt="md">A kit that you make later replaces this one. Then destroy this page.</Text>
    </div>
  )
}

function download(email: string, code: string): void {
  const lines = ['Skerry recovery kit', '', `${email} at ${location.origin}`, `Made on ${madeOn()}`, '', code, '', use]
  saveText('skerry-recovery-kit.txt', 'text/plain', `${lines.join('\n')}\n`)
}
