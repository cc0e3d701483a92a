import { Button, Paper, PasswordInput, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { keyring, usePlaintext } from '../keyring.ts'
import { invalidate, keysQuery } from '../queries.ts'
import { useReloadMe } from '../reload-me.ts'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

/** Makes the person's key: sealed in the worker under a passphrase that only the person knows. */
export function CreateKeys({ userId }: { userId: string }) {
  const [passphrase, setPassphrase] = usePlaintext('')
  const [again, setAgain] = usePlaintext('')
  const reloadMe = useReloadMe()
  const problem = usePassphraseProblem(passphrase)
  const create = useAction(async () => {
    const keys = await keyring.callLocked('createKeys', { passphrase, userId })
    try {
      await api.me.putKeys({ body: keys })
    } catch (error) {
      keyring.lock()
      throw error
    }
    keyring.opened()
    await invalidate(keysQuery)
    await reloadMe()
  })
  const differs = again !== '' && again !== passphrase
  return (
    <Paper>
      <Form onSubmit={() => create.run()}>
        <Stack>
          <Text size="sm">
            Your keyring holds the key with which you read values. It is made here and sealed under a passphrase. The
            server keeps the sealed key and never sees the passphrase, so nobody can reset it.
          </Text>
          <PasswordInput
            label="Passphrase"
            description="Four or five words that nobody would put together are good."
            value={passphrase}
            onChange={(event) => setPassphrase(event.currentTarget.value)}
            error={passphrase !== '' && problem ? `Too weak: ${problem}` : null}
            autoComplete="new-password"
          />
          <PasswordInput
            label="Passphrase again"
            value={again}
            onChange={(event) => setAgain(event.currentTarget.value)}
            error={differs ? 'This is not the same' : null}
            autoComplete="new-password"
          />
          <ProblemAlert error={create.error} />
          <Button
            type="submit"
            loading={create.pending}
            disabled={passphrase === '' || problem !== null || again !== passphrase}
          >
            Make the keyring
          </Button>
        </Stack>
      </Form>
    </Paper>
  )
}

/** The worker, which seals the key, checks the passphrase; until it answers there is no problem to show. */
function usePassphraseProblem(passphrase: string): string | null {
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    let latest = true
    void keyring.callLocked('passphraseProblem', { passphrase }).then(
      (found) => latest && setProblem(found),
      () => {},
    )
    return () => {
      latest = false
    }
  }, [passphrase])
  return problem
}
