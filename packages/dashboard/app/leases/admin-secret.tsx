import { Textarea } from '@mantine/core'
import { type LeaseTag, leaseFacts } from '@skerry/contract/lease-facts'
import { clearedMessage } from '../keyring.ts'

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
