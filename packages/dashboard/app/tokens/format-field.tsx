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
          description="For the command skerry and its SDKs. The private key in the token never leaves the machine. Other clients would send the private key to the server."
        />
        <Radio
          value="classic"
          label="Classic"
          description="For clients that are not made by Skerry. They send the whole token, with its private key, to the server in each request."
        />
      </Stack>
    </Radio.Group>
  )
}
