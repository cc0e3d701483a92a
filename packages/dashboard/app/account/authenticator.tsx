import { Badge, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { secondFactorQuery } from '../queries.ts'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'

// This part of the page is loaded when it first opens, because it draws a QR code.
const SetUpAuthenticator = lazy(async () => ({
  default: (await import('./set-up-authenticator.tsx')).SetUpAuthenticator,
}))

/** The settings for the authenticator app and its recovery codes. */
export function Authenticator({ totp, recoveryCodesLeft }: { totp: boolean; recoveryCodesLeft: number }) {
  const enrolling = useDialog<{ secret: string; uri: string }>()
  const codes = useDialog<string[]>()
  const removing = useConfirm(() => ({
    title: 'Remove the authenticator app?',
    text: 'Its codes and your recovery codes stop working. An organization that requires a second factor keeps you out until you set up another one.',
    confirm: 'Remove',
    onConfirm: () => api.secondFactor.removeTotp(),
    stale: [secondFactorQuery],
  }))
  const begin = useAction(async () => enrolling.open(await api.secondFactor.enrollTotp()))
  const renew = useAction(async () => codes.open((await api.secondFactor.renewRecoveryCodes()).recoveryCodes), {
    stale: [secondFactorQuery],
  })
  const confirmed = (recoveryCodes: string[]) => {
    enrolling.close()
    codes.open(recoveryCodes)
  }
  return (
    <Section
      title="Authenticator app"
      description="An app on your phone shows six digits, which change every 30 seconds."
    >
      <Stack gap="sm">
        <Paper p="md">
          <Group justify="space-between">
            <Group gap="xs">
              <Badge color={totp ? 'sea' : 'gray'} variant="light">
                {totp ? 'on' : 'off'}
              </Badge>
              {totp && (
                <Text size="sm" c="dimmed">
                  {recoveryCodesLeft} recovery codes left
                </Text>
              )}
            </Group>
            {totp ? (
              <Group gap="xs">
                <Button variant="default" loading={renew.pending} onClick={() => renew.run()}>
                  New recovery codes
                </Button>
                <Button variant="subtle" color="red" onClick={() => removing.open()}>
                  Remove
                </Button>
              </Group>
            ) : (
              <Button loading={begin.pending} onClick={() => begin.run()}>
                Set up
              </Button>
            )}
          </Group>
        </Paper>
        <ProblemAlert error={begin.error ?? renew.error} />
      </Stack>
      {enrolling.show((onClose, secret) => (
        <Dialog opened onClose={onClose} title="Set up the authenticator app">
          <Suspense>
            <SetUpAuthenticator {...secret} onConfirmed={confirmed} />
          </Suspense>
        </Dialog>
      ))}
      {codes.show((onClose, list) => (
        <Dialog
          opened
          onClose={onClose}
          title="Recovery codes"
          withCloseButton={false}
          closeOnClickOutside={false}
          closeOnEscape={false}
        >
          <RecoveryCodes codes={list} onClose={onClose} />
        </Dialog>
      ))}
      {removing.dialog}
    </Section>
  )
}

function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        Each code works once, instead of the app. Keep the codes where you can find them without your phone. You cannot
        see them again.
      </Text>
      <SimpleGrid cols={2} spacing="xs" className="mono" ta="center">
        {codes.map((code) => (
          <span key={code}>{code}</span>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <Copy text={codes.join('\n')} label="Copy the codes" />
        <Button onClick={onClose}>I have kept them</Button>
      </Group>
    </Stack>
  )
}
