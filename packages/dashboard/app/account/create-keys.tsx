import { Button, Paper, Stack, Text } from '@mantine/core'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { keysQuery } from '../queries.ts'
import { useReloadMe } from '../reload-me.ts'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { NewPassphraseFields, useNewPassphrase } from './new-passphrase.tsx'

/** Creates the person's key pair. The worker seals the private key under a passphrase that only the person knows. */
export function CreateKeys({ userId, about }: { userId: string; about: string[] }) {
  const { passphrase, ready, fields } = useNewPassphrase(about)
  const reloadMe = useReloadMe()
  const create = useAction(
    async () => {
      const keys = await keyring.callLocked('createKeys', { passphrase, userId })
      try {
        await api.me.putKeys({ body: keys })
      } catch (error) {
        keyring.lock()
        throw error
      }
      keyring.opened()
      await reloadMe()
    },
    { stale: [keysQuery] },
  )
  return (
    <Paper>
      <Form onSubmit={() => create.run()}>
        <Stack>
          <Text size="sm">
            Your keyring holds the key that decrypts your secrets. This browser makes the key and seals it under your
            passphrase. The server keeps the sealed key and never sees the passphrase, so nobody can reset it.
          </Text>
          <NewPassphraseFields {...fields} />
          <ProblemAlert error={create.error} />
          <Button type="submit" loading={create.pending} disabled={!ready}>
            Make the keyring
          </Button>
        </Stack>
      </Form>
    </Paper>
  )
}
