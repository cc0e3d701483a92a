import { Textarea } from '@mantine/core'
import type { ReactNode } from 'react'

/** The origins to which people may be sent back, one on each line. */
export function OriginsField(props: {
  value: string[]
  error?: ReactNode
  onChange: (origins: string[]) => void
  onBlur?: () => void
}) {
  const { value, onChange, ...more } = props
  return (
    <Textarea
      label="Return origins"
      description="Addresses of your product to which people return after they connect an account, such as https://app.example.com. Write one on each line."
      placeholder="https://app.example.com"
      classNames={{ input: 'mono' }}
      autosize
      minRows={2}
      maxRows={8}
      autoComplete="off"
      spellCheck={false}
      value={value.join('\n')}
      onChange={(event) => onChange(event.currentTarget.value.split('\n'))}
      {...more}
    />
  )
}
