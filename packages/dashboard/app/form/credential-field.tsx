import { Alert, Textarea } from '@mantine/core'
import type { ReactNode } from 'react'
import { clearedMessage, keyring } from '../keyring.ts'
import { IconEye } from '../ui/icons.ts'

/** To be shown wherever a credential is asked for that the server uses: `children` say for what. */
export const ServerReads = ({ children }: { children: ReactNode }) => (
  <Alert color="yellow" variant="light" icon={<IconEye size={18} />} title="This server will be able to read it">
    Unlike your secrets: {children} Make one for Skerry alone, with no more rights than it needs.
  </Alert>
)

/** In clear while it is typed, as values are: people have to see what they paste. */
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

/** Wraps a credential, in the keyring's worker, to a key that the server has just shown as its own. */
export const wrapCredential = (text: string, publicKeyJwk: string): Promise<string> =>
  keyring.callLocked('wrapForServer', { text: text.trim(), publicKeyJwk })
