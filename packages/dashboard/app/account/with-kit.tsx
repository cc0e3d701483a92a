import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { KeyringError, keyring, usePlaintext } from '../keyring.ts'
import { invalidate, keysQuery } from '../queries.ts'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { checkOpened } from './check-opened.ts'
import { NewPassphraseFields, useNewPassphrase } from './new-passphrase.tsx'

/** Opens the keyring with the code of the recovery kit, and seals it under a new passphrase. */
export function WithKit(props: { publicKeyJwk: string; userId: string; about: string[] }) {
  const { publicKeyJwk, userId, about } = props
  const [code, setCode] = usePlaintext('')
  const { passphrase, ready, fields } = useNewPassphrase(about)
  const action = useAction(async () => {
    const { kit } = await api.recoveryKit.get()
    if (kit === null) throw new KeyringError('no_kit', 'you have no recovery kit on this server')
    const { encryptedPrivateKey } = kit
    const opened = await keyring.callLocked('unlockWithKitCode', { encryptedPrivateKey, code, userId, publicKeyJwk })
    checkOpened(opened, publicKeyJwk)
    try {
      const sealed = await keyring.callLocked('sealUnderPassphrase', { passphrase, userId })
      await api.me.patchKeys({ body: { encryptedPrivateKey: sealed, publicKeyJwk } })
    } catch (error) {
      keyring.lock()
      throw error
    }
    // The key under the old passphrase leaves the cache before anybody can lock and unlock.
    await invalidate(keysQuery)
    keyring.opened()
    showToast('The keyring opens with the new passphrase. Your recovery kit still works.')
  })
  return (
    <Form onSubmit={() => action.run()}>
      <Stack gap="sm">
        <TextInput
          label="Code of the recovery kit"
          description="28 letters and digits. Capitals and hyphens do not matter."
          classNames={{ input: 'mono' }}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          autoFocus
          data-autofocus
        />
        <Text size="sm">Choose a new passphrase for the same keyring.</Text>
        <NewPassphraseFields {...fields} />
        <ProblemAlert error={kitProblem(action.error)} />
        <Button type="submit" loading={action.pending} disabled={code.trim() === '' || !ready}>
          Unlock and change the passphrase
        </Button>
      </Stack>
    </Form>
  )
}

function kitProblem(error: unknown): unknown {
  if (!(error instanceof KeyringError)) return error
  if (error.code === 'malformed_code')
    return new KeyringError('mistyped_code', 'this code is mistyped: compare it with your page, group by group')
  if (error.code === 'decryption_failed')
    return new KeyringError('other_kit', 'this code belongs to another kit: only the kit that you made last works')
  return error
}
