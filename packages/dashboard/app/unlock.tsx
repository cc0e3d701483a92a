import { Anchor, Button, Divider, Group, PasswordInput, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { checkOpened } from './account/check-opened.ts'
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

// Loaded when the person needs it.
const WithKit = lazy(async () => ({ default: (await import('./account/with-kit.tsx')).WithKit }))

/** Opens when code needs the private key. The code continues after the keyring is unlocked. */
export function UnlockDialog() {
  const { data: me } = useQuery(meQuery)
  const title = me?.user?.publicKeyJwk === null ? 'Make a keyring first' : 'Unlock your keyring'
  return (
    <Dialog opened onClose={unlockPrompt.cancel} title={title}>
      <Unlock />
    </Dialog>
  )
}

function Unlock() {
  const [usesKit, setUsesKit] = useState(false)
  const keys = useQuery(keysQuery)
  const me = useQuery(meQuery)
  return (
    <Loaded query={me}>
      {({ user }) => (
        <Loaded query={keys}>
          {({ publicKeyJwk, encryptedPrivateKey }) =>
            user && publicKeyJwk && encryptedPrivateKey ? (
              usesKit ? (
                <Suspense>
                  <WithKit publicKeyJwk={publicKeyJwk} userId={user.id} about={[user.email ?? '', user.name ?? '']} />
                </Suspense>
              ) : (
                <Stack>
                  <WithPasskey publicKeyJwk={publicKeyJwk} userId={user.id} />
                  <WithPassphrase
                    {...{ publicKeyJwk, encryptedPrivateKey }}
                    userId={user.id}
                    onUseKit={() => setUsesKit(true)}
                  />
                </Stack>
              )
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
      <Text size="sm">You have no keyring yet. It holds the key that decrypts your secrets.</Text>
      <Button component="a" href="/account/keyring">
        Make one
      </Button>
    </Stack>
  )
}

function WithPasskey({ publicKeyJwk, userId }: { publicKeyJwk: string; userId: string }) {
  const { data } = useQuery(passkeysQuery)
  const action = useAction(async () => {
    const passkeys = data?.passkeys ?? []
    const { credentialId, prfOutput } = await evaluate(passkeys)
    const { encryptedPrivateKey = '' } = passkeys.find((passkey) => passkey.credentialId === credentialId) ?? {}
    const input = { encryptedPrivateKey, prfOutput, userId, credentialId }
    checkOpened(await keyring.callLocked('unlockWithPasskey', input), publicKeyJwk)
    keyring.opened()
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

function WithPassphrase(props: {
  publicKeyJwk: string
  encryptedPrivateKey: string
  userId: string
  onUseKit: () => void
}) {
  const { publicKeyJwk, encryptedPrivateKey, userId, onUseKit } = props
  const [passphrase, setPassphrase] = usePlaintext('')
  const [helping, setHelping] = useState(false)
  /** The sealed key from a printed copy, if the server's copy no longer opens. */
  const [fromCopy, setFromCopy] = useState<string | null>(null)
  const action = useAction(async () => {
    const input = { encryptedPrivateKey: fromCopy?.replace(/\s/g, '') ?? encryptedPrivateKey, passphrase, userId }
    checkOpened(await keyring.callLocked('unlockWithPassphrase', input), publicKeyJwk)
    keyring.opened()
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
        {fromCopy !== null && (
          <Textarea
            label="Sealed private key"
            description="From your printed copy: scan its code or type the text beside it, which begins with pk1."
            classNames={{ input: 'mono' }}
            autosize
            minRows={3}
            value={fromCopy}
            onChange={(event) => setFromCopy(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        <ProblemAlert error={unlockProblem(action.error, fromCopy !== null)} />
        <Button type="submit" loading={action.pending} disabled={passphrase === ''}>
          Unlock
        </Button>
        <Group justify="space-between">
          <Anchor component="button" type="button" size="sm" onClick={() => setHelping(!helping)}>
            I forgot my passphrase
          </Anchor>
          <Anchor component="button" type="button" size="sm" onClick={onUseKit}>
            Use the recovery kit
          </Anchor>
        </Group>
        {helping && (
          <>
            <Text size="sm" c="dimmed">
              Nobody can reset it, because the server never had it. A passkey or the code of your recovery kit still
              unlocks the keyring. Without them, replace the key pair on the page Keyring, and ask for access again.
            </Text>
            <Anchor
              component="button"
              type="button"
              size="sm"
              ta="left"
              onClick={() => setFromCopy(fromCopy === null ? '' : null)}
            >
              {fromCopy === null ? 'Use a printed copy of the sealed key' : 'Use the server’s copy of the sealed key'}
            </Anchor>
          </>
        )}
      </Stack>
    </Form>
  )
}

function unlockProblem(error: unknown, withCopy: boolean): unknown {
  if (!(error instanceof KeyringError)) return error
  if (withCopy && ['malformed_blob', 'unsupported_prefix'].includes(error.code))
    return new KeyringError('wrong_copy', 'this is not the whole sealed key')
  if (error.code !== 'decryption_failed') return error
  if (withCopy) return new KeyringError('wrong_copy', 'this passphrase does not open this sealed key')
  return new KeyringError('wrong_passphrase', 'this passphrase does not open your keyring')
}
