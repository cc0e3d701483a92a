import { Radio, type RadioGroupProps, Stack } from '@mantine/core'

export type Format = 'skerry' | 'classic'

/** The two formats of a token. They differ in what its bearer sends to the server. */
export function FormatField(props: Omit<RadioGroupProps, 'children'>) {
  return (
    <Radio.Group label="Format" {...props}>
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
