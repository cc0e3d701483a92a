import { PasswordInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { keyring, usePlaintext } from '../keyring.ts'

/** A new passphrase, typed twice. `ready` is true when both are equal and the worker accepts the passphrase. */
export function useNewPassphrase(about: string[]) {
  const [passphrase, setPassphrase] = usePlaintext('')
  const [again, setAgain] = usePlaintext('')
  const problem = usePassphraseProblem(passphrase, about)
  return {
    passphrase,
    ready: passphrase !== '' && again === passphrase && problem === null,
    fields: { passphrase, setPassphrase, again, setAgain, problem },
  }
}

export function NewPassphraseFields(props: ReturnType<typeof useNewPassphrase>['fields']) {
  const { passphrase, setPassphrase, again, setAgain, problem } = props
  return (
    <>
      <PasswordInput
        label="Passphrase"
        description="Use four or five words that nobody would put together."
        value={passphrase}
        onChange={(event) => setPassphrase(event.currentTarget.value)}
        error={passphrase !== '' && problem ? `Too weak: ${problem}` : null}
        autoComplete="new-password"
        data-autofocus
      />
      <PasswordInput
        label="Passphrase again"
        value={again}
        onChange={(event) => setAgain(event.currentTarget.value)}
        error={again !== '' && again !== passphrase ? 'The passphrases differ' : null}
        autoComplete="new-password"
      />
    </>
  )
}

/**
 * Returns what the worker finds too weak about the passphrase, or null. It is undefined until the worker has checked
 * the current input.
 */
function usePassphraseProblem(passphrase: string, about: string[]): string | null | undefined {
  const [judged, setJudged] = usePlaintext<{ passphrase: string; problem: string | null } | null>(null)
  const known = about.join('\n')
  const [failed, setFailed] = useState<unknown>(null)
  useEffect(() => {
    let latest = true
    if (passphrase === '') return
    keyring.callLocked('passphraseProblem', { passphrase, about: known.split('\n') }).then(
      (problem) => latest && setJudged({ passphrase, problem }),
      // If the worker could not load its word list, no passphrase is accepted. The next key press tries again.
      (error) => latest && setFailed(error),
    )
    return () => {
      latest = false
    }
  }, [passphrase, known, setJudged])
  if (judged?.passphrase === passphrase) return judged.problem
  return failed === null
    ? undefined
    : 'it could not be checked, because a part of the page did not load. Reload the page.'
}
