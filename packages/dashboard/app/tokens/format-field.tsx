import { Radio, Stack } from '@mantine/core'

export type Format = 'skerry' | 'classic'

/** The two forms of a token. What tells them apart is what its bearer sends to the server. */
export function FormatField({ format, onChange }: { format: Format; onChange: (format: Format) => void }) {
  return (
    <Radio.Group label="Format" value={format} onChange={(value) => onChange(value === 'classic' ? value : 'skerry')}>
      <Stack gap="xs" mt={6}>
        <Radio
          value="skerry"
          label="Skerry"
          description="For skerry and its SDK: what decrypts never leaves the machine that has the token. A published client would send it whole, key and all."
        />
        <Radio
          value="classic"
          label="Classic"
          description="For the published clients, which send the whole token to the server with each request."
        />
      </Stack>
    </Radio.Group>
  )
}
