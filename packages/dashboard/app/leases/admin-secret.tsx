import { Alert, Textarea } from '@mantine/core'
import { type LeaseTag, leaseFacts } from '@skerry/contract/lease-facts'
import { clearedMessage, keyring } from '../keyring.ts'
import { queryClient } from '../queries.ts'
import { IconEye } from '../ui/icons.ts'
import { brokerKeyQuery } from './queries.ts'

/** To be shown wherever an admin credential is asked for. */
export const ServerReads = () => (
  <Alert color="yellow" variant="light" icon={<IconEye size={18} />} title="This server will be able to read it">
    Unlike your secrets: it signs in with the credential to make and remove accounts. Make one for Skerry alone, with no
    more rights than it needs.
  </Alert>
)

/** In clear while it is typed, as values are: people have to see what they paste. */
export function AdminSecretField(props: {
  provider: LeaseTag
  value: string
  wasCleared: boolean
  onChange: (value: string) => void
  onBlur?: () => void
  autoFocus?: boolean
}) {
  const { provider, value, wasCleared, onChange, onBlur, autoFocus = false } = props
  return (
    <Textarea
      label="Admin credential"
      description={leaseFacts[provider].adminSecret}
      classNames={{ input: 'mono' }}
      autosize
      minRows={2}
      maxRows={8}
      autoComplete="off"
      spellCheck={false}
      value={value}
      error={wasCleared && clearedMessage}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...(onBlur ? { onBlur } : {})}
      {...(autoFocus ? { 'data-autofocus': true } : {})}
    />
  )
}

/** Wraps a credential, in the keyring's worker, to the key that the server has just shown as that of its broker. */
export async function wrapForBroker(orgId: string, text: string): Promise<string> {
  const { publicKeyJwk } = await queryClient.fetchQuery(brokerKeyQuery(orgId))
  return keyring.callLocked('wrapForServer', { text: text.trim(), publicKeyJwk })
}
