import { Code, Group, Stack, Text } from '@mantine/core'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { secondFactorQuery } from '../queries.ts'
import { Copy } from '../ui/copy.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { QrCode } from '../ui/qr-code.tsx'
import { SixDigits } from '../ui/six-digits.tsx'

/** Shows the secret for the app, then asks for a code to confirm that the app has the secret. */
export function SetUpAuthenticator(props: { secret: string; uri: string; onConfirmed: (codes: string[]) => void }) {
  const { secret, uri, onConfirmed } = props
  const confirm = useAction(
    async (code: string) => onConfirmed((await api.secondFactor.confirmTotp({ body: { code } })).recoveryCodes),
    { stale: [secondFactorQuery] },
  )
  return (
    <Stack align="center" ta="center">
      <Text size="sm">Scan this with the app, then enter the six digits that it shows.</Text>
      <QrCode text={uri} size={208} label="QR code for the authenticator app" />
      <Group gap={4} wrap="nowrap">
        <Code style={{ wordBreak: 'break-all' }}>{secret}</Code>
        <Copy text={secret} label="Copy the secret" />
      </Group>
      <SixDigits label="Six digits from the app" onComplete={confirm.run} />
      <ProblemAlert
        error={confirm.error}
        onForbidden="Enter the next code that the app shows. If it is wrong too, correct the clock of your phone."
      />
    </Stack>
  )
}
