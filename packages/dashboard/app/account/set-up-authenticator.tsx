import { Code, Group, PinInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { Copy } from '../ui/copy.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { QrCode } from '../ui/qr-code.tsx'

/** The secret for the app, and the first code that shows that the app has it. */
export function SetUpAuthenticator(props: {
  secret: string
  uri: string
  onConfirmed: (codes: string[]) => Promise<void>
}) {
  const { secret, uri, onConfirmed } = props
  const [code, setCode] = useState('')
  const confirm = useAction(async (code: string) => {
    const { recoveryCodes } = await api.secondFactor.confirmTotp({ body: { code } })
    await onConfirmed(recoveryCodes)
  })
  return (
    <Stack align="center" ta="center">
      <Text size="sm">Scan this with the app, then enter the six digits that it shows.</Text>
      <QrCode text={uri} size={208} label="QR code for the authenticator app" />
      <Group gap={4} wrap="nowrap">
        <Code style={{ wordBreak: 'break-all' }}>{secret}</Code>
        <Copy text={secret} label="Copy the secret" />
      </Group>
      <PinInput
        length={6}
        type="number"
        oneTimeCode
        autoFocus
        value={code}
        onChange={setCode}
        onComplete={(complete) => confirm.run(complete)}
        disabled={confirm.pending}
        aria-label="Six digits from the app"
        getInputProps={(index) => ({ 'aria-label': `Digit ${index + 1}` })}
      />
      <ProblemAlert error={confirm.error} />
    </Stack>
  )
}
