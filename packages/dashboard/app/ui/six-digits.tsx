import { PinInput } from '@mantine/core'
import { useState } from 'react'

/**
 * A field for a six-digit code of an authenticator app. It submits when all digits are there. After a refusal it is
 * empty again.
 */
export function SixDigits({ label, onComplete }: { label: string; onComplete: (code: string) => Promise<unknown> }) {
  const [{ tries, pending }, setState] = useState({ tries: 0, pending: false })
  const complete = async (code: string) => {
    setState({ tries, pending: true })
    await onComplete(code)
    setState({ tries: tries + 1, pending: false })
  }
  return (
    <PinInput
      key={tries}
      length={6}
      type="number"
      oneTimeCode
      autoFocus
      aria-label={label}
      // Without `data-autofocus`, the dialog would focus its close button.
      getInputProps={(index) => ({ 'aria-label': `Digit ${index + 1}`, 'data-autofocus': index === 0 || undefined })}
      onComplete={complete}
      disabled={pending}
    />
  )
}
