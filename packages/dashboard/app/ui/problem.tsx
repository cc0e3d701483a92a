import { Alert, Button, Group, Text } from '@mantine/core'
import { SkerryError, UnavailableError } from '@skerry/sdk/errors'
import { refusedField } from '../form/refused-field.ts'
import { KeyringError } from '../keyring.ts'
import { PrfMissing } from '../prf-missing.ts'
import { Cancelled } from '../prompts.ts'
import { ValueTooLong } from '../secrets/value-too-long.ts'
import { IconTriangleAlert } from './icons.ts'
import { lacksServerKey, NoServerKey } from './no-server-key.tsx'

/** Advice for the person, by error code. */
const advice: Record<string, string> = {
  unavailable: 'Check that the server is running and that you are connected, then try again.',
  timeout: 'The server is slow or cannot be reached. Try again in a moment.',
  unauthorized: 'Sign in again.',
  forbidden: 'Ask an admin of the organization for access.',
  not_found: 'It may have been deleted, or you have no access to it.',
  conflict: 'Someone else has changed it, or it exists already. Look at the current state, then try again.',
  rate_limited: 'Wait a minute, then try again.',
  quota_exceeded: 'Delete something that is no longer needed, or raise the limit.',
  internal: 'Try again. If it happens again, tell the operator of this server.',
  decryption_failed: 'Either the wrong key was used, or the data was altered. Do not trust what the server sent.',
  wrong_passphrase: 'Check capital letters and the keyboard layout, and try again.',
  wrong_copy: 'Check the passphrase and every character of the sealed key: capital letters count.',
  wrong_key: 'Do not go on. Tell the operator: the server may be showing a key that is not yours.',
  directory_mismatch:
    'Do not go on, unless someone on your team made this change. Then a signer reads it and runs skerry trust sign.',
  directory_stale: 'Ask a signer to run skerry trust sign, which signs the directory again.',
  locked: 'Unlock the keyring and try again.',
  malformed_answer: 'Do not go on. Tell the operator: the server gave an answer that does not fit the request.',
}

/**
 * Advice for an error of a database, host or platform that Skerry called. Its code is `conflict`, although nobody has
 * changed anything here.
 */
const outsideAdvice =
  'The other system answered with this error. Fix the problem there, or correct the settings in Skerry, and try again.'

export function describeProblem(error: unknown): {
  title: string
  advice: string | undefined
  requestId: string | null
} {
  if (error instanceof SkerryError) {
    const unreachable = error instanceof UnavailableError && error.status === null
    const refused = refusedField(error)
    if (refused)
      return { title: `${refused.path}: ${refused.message}`, advice: 'Choose another.', requestId: error.requestId }
    const title = unreachable ? 'The server cannot be reached' : sentence(error.message)
    const isOutside = error.message.startsWith('target: ')
    return { title, advice: isOutside ? outsideAdvice : advice[error.code], requestId: error.requestId }
  }
  if (error instanceof KeyringError)
    return { title: sentence(error.message), advice: advice[error.code], requestId: null }
  if (error instanceof Cancelled)
    return { title: 'This was not confirmed', advice: 'Try again, and confirm when you are asked.', requestId: null }
  if (error instanceof ValueTooLong)
    return {
      title: 'The value is too long',
      advice: 'A secret holds at most about 780 kB. Keep a large file elsewhere, and its key here.',
      requestId: null,
    }
  if (error instanceof PrfMissing)
    return {
      title: 'This passkey cannot unlock a keyring',
      advice: 'It lacks the PRF extension. Use another passkey, or the passphrase.',
      requestId: null,
    }
  if (isOldBuild(error))
    return { title: 'There is a newer version of the dashboard', advice: 'Reload the page.', requestId: null }
  if (error instanceof Error && error.name === 'SecurityError')
    return {
      title: 'Passkeys do not work at this address',
      advice: 'Open the dashboard at the address that the server has as SKERRY_BASE_URL.',
      requestId: null,
    }
  if (error instanceof Error && error.name === 'InvalidStateError')
    return {
      title: 'This device has a passkey for you already',
      advice: 'Use another device, or remove that passkey first.',
      requestId: null,
    }
  if (error instanceof Error && error.name === 'NotAllowedError')
    return {
      title: 'The passkey was not used',
      advice: 'It was cancelled or took too long. Try again.',
      requestId: null,
    }
  return { title: 'Something went wrong in this page', advice: 'Reload it and try again.', requestId: null }
}

/** Whether the server no longer has a script of this build. */
const isOldBuild = (error: unknown) => error instanceof TypeError && /import|module/i.test(error.message)

const sentence = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

/**
 * Shows an error and what to do about it. Without an error it shows nothing. `onForbidden` is the advice if the server
 * refuses what the person entered, because no administrator could help.
 */
export function ProblemAlert(props: { error: unknown; retry?: () => void; onForbidden?: string }) {
  const { error, retry, onForbidden } = props
  if (!error) return null
  if (lacksServerKey(error)) return <NoServerKey />
  const problem = describeProblem(error)
  const wasForbidden = error instanceof SkerryError && error.code === 'forbidden'
  return (
    <Alert color="red" variant="light" icon={<IconTriangleAlert size={18} />} title={problem.title} role="alert">
      {(wasForbidden && onForbidden) || problem.advice}
      {problem.requestId && problem.advice === advice.internal && (
        <Text size="xs">
          Give them this request ID: <span className="mono">{problem.requestId}</span>
        </Text>
      )}
      {retry && (
        <Group mt="xs">
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  )
}

/** Shown by the router if a whole page failed. */
export function RouteProblem({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <div className="body">
      <ProblemAlert error={error} retry={isOldBuild(error) ? () => location.reload() : reset} />
    </div>
  )
}
