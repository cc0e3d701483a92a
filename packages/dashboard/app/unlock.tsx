import { Anchor, Button, Divider, Group, PasswordInput, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from './action.ts'
import { KeyringError, keyring, usePlaintext } from './keyring.ts'
import { evaluate } from './passkeys.ts'
import { unlockPrompt } from './prompts.ts'
import { keysQuery, meQuery, passkeysQuery } from './queries.ts'
import { Dialog } from './ui/dialog.tsx'
import { Form } from './ui/form.tsx'
import { IconFingerprint } from './ui/icons.ts'
import { Loaded } from './ui/loaded.tsx'
import { ProblemAlert } from './ui/problem.tsx'

/** Opens when code needs the private key. The code continues after the keyring is unlocked. */
export function UnlockDialog() {
  return (
    <Dialog opened onClose={unlockPrompt.cancel} title="Unlock your keyring">
      <Unlock />
    </Dialog>
  )
}

function Unlock() {
  const keys = useQuery(keysQuery)
  const me = useQuery(meQuery)
  return (
    <Loaded query={me}>
      {({ user }) => (
        <Loaded query={keys}>
          {({ publicKeyJwk, encryptedPrivateKey }) =>
            user && publicKeyJwk && encryptedPrivateKey ? (
              <Stack>
                <WithPasskey publicKeyJwk={publicKeyJwk} userId={user.id} />
                <WithPassphrase {...{ publicKeyJwk, encryptedPrivateKey }} userId={user.id} />
              </Stack>
            ) : (
              <NoKeyring />
            )
          }
        </Loaded>
      )}
    </Loaded>
  )
}

function NoKeyring() {
  return (
    <Stack>
      <Text size="sm">You have no keyring yet. It holds the key with which your values are read.</Text>
      <Button component="a" href="/account/keyring">
        Make one
      </Button>
    </Stack>
  )
}

/**
 * Refuses a decrypted key that differs from the person's public key on the server. Others encrypt to that public key,
 * so the decrypted key must not be used.
 */
function checkOpened(opened: string, told: string) {
  const point = (jwk: string) => {
    const { x, y } = JSON.parse(jwk) as { x: string; y: string }
    return `${x}.${y}`
  }
  if (point(opened) === point(told)) return keyring.opened()
  keyring.lock()
  throw new KeyringError('wrong_key', 'this opened another key than the server shows to others as yours')
}

function WithPasskey({ publicKeyJwk, userId }: { publicKeyJwk: string; userId: string }) {
  const { data } = useQuery(passkeysQuery)
  const action = useAction(async () => {
    const passkeys = data?.passkeys ?? []
    const { credentialId, prfOutput } = await evaluate(passkeys)
    const { encryptedPrivateKey = '' } = passkeys.find((passkey) => passkey.credentialId === credentialId) ?? {}
    const input = { encryptedPrivateKey, prfOutput, userId, credentialId }
    checkOpened(await keyring.callLocked('unlockWithPasskey', input), publicKeyJwk)
  })
  if (!data?.passkeys.length) return null
  return (
    <>
      <Button leftSection={<IconFingerprint size={18} />} loading={action.pending} onClick={() => action.run()}>
        Use a passkey
      </Button>
      <ProblemAlert error={action.error} />
      <Divider label="or" />
    </>
  )
}

function WithPassphrase(props: { publicKeyJwk: string; encryptedPrivateKey: string; userId: string }) {
  const { publicKeyJwk, encryptedPrivateKey, userId } = props
  const [passphrase, setPassphrase] = usePlaintext('')
  const [helping, setHelping] = useState(false)
  /** The sealed key from the printed recovery kit, if the server's copy no longer opens. */
  const [fromKit, setFromKit] = useState<string | null>(null)
  const action = useAction(async () => {
    const input = { encryptedPrivateKey: fromKit?.replace(/\s/g, '') ?? encryptedPrivateKey, passphrase, userId }
    checkOpened(await keyring.callLocked('unlockWithPassphrase', input), publicKeyJwk)
  })
  return (
    <Form onSubmit={() => action.run()}>
      <Stack gap="sm">
        <PasswordInput
          label="Passphrase"
          value={passphrase}
          onChange={(event) => setPassphrase(event.currentTarget.value)}
          autoComplete="off"
          autoFocus
          data-autofocus
        />
        {fromKit !== null && (
          <Textarea
            label="Sealed private key"
            description="From your recovery kit: scan its code or type the text beside it, which begins with pk1."
            classNames={{ input: 'mono' }}
            autosize
            minRows={3}
            value={fromKit}
            onChange={(event) => setFromKit(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        <ProblemAlert error={unlockProblem(action.error, fromKit !== null)} />
        <Button type="submit" loading={action.pending} disabled={passphrase === ''}>
          Unlock
        </Button>
        <Group justify="space-between">
          <Anchor component="button" type="button" size="sm" onClick={() => setHelping(!helping)}>
            I forgot my passphrase
          </Anchor>
          <Anchor component="button" type="button" size="sm" onClick={() => setFromKit(fromKit === null ? '' : null)}>
            {fromKit === null ? 'Use my recovery kit' : 'Use the server’s copy'}
          </Anchor>
        </Group>
        {helping && (
          <Text size="sm" c="dimmed">
            Nobody can reset it: the server never had it. A keyring passkey still unlocks, and perhaps it stands on your
            recovery kit. Without either, replace the keypair on the page of your keyring, and have others grant you
            access again.
          </Text>
        )}
      </Stack>
    </Form>
  )
}

function unlockProblem(error: unknown, withKit: boolean): unknown {
  if (!(error instanceof KeyringError)) return error
  if (withKit && ['malformed_blob', 'unsupported_prefix'].includes(error.code))
    return new KeyringError('wrong_kit', 'this is not the whole sealed key')
  if (error.code !== 'decryption_failed') return error
  if (withKit) return new KeyringError('wrong_kit', 'this passphrase does not open this sealed key')
  return new KeyringError('wrong_passphrase', 'this passphrase does not open your keyring')
}
