import { Alert, Textarea } from '@mantine/core'
import type { ReactNode } from 'react'
import { clearedMessage, keyring } from '../keyring.ts'
import { IconEye } from '../ui/icons.ts'

/** A warning to show wherever the server needs to read a credential. `children` say what for. */
export const ServerReads = ({ children }: { children: ReactNode }) => (
  <Alert color="yellow" variant="light" icon={<IconEye size={18} />} title="This server will be able to read it">
    Your secrets stay encrypted for the server, but not this credential: {children} Make a credential for Skerry alone,
    with no more rights than it needs.
  </Alert>
)

/** A field for a credential. It shows the text as values do, because people must see what they paste. */
export function CredentialField(props: {
  label: string
  description: string
  value: string
  wasCleared: boolean
  onChange: (value: string) => void
  onBlur?: () => void
  autoFocus?: boolean
}) {
  const { label, description, value, wasCleared, onChange, onBlur, autoFocus = false } = props
  return (
    <Textarea
      label={label}
      description={description}
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

/** Wraps a credential to the server's current public key, in the keyring's worker. */
export const wrapCredential = (text: string, publicKeyJwk: string): Promise<string> =>
  keyring.callLocked('wrapForServer', { text: text.trim(), publicKeyJwk })
