import { Badge, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { invalidate, secondFactorQuery } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

// Loaded when first asked for: it draws a QR code.
const SetUpAuthenticator = lazy(async () => ({
  default: (await import('./set-up-authenticator.tsx')).SetUpAuthenticator,
}))

/** The authenticator app, and recovery codes in case it is lost. */
export function Authenticator({ totp, recoveryCodesLeft }: { totp: boolean; recoveryCodesLeft: number }) {
  const [secret, setSecret] = useState<{ secret: string; uri: string } | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const [removing, setRemoving] = useState(false)
  const reload = () => invalidate(secondFactorQuery)
  const begin = useAction(async () => setSecret(await api.secondFactor.enrollTotp()))
  const renew = useAction(async () => {
    setCodes((await api.secondFactor.renewRecoveryCodes()).recoveryCodes)
    await reload()
  })
  const confirmed = async (recoveryCodes: string[]) => {
    setSecret(null)
    setCodes(recoveryCodes)
    await reload()
  }
  return (
    <Section
      title="Authenticator app"
      description="Six digits that change every half minute, from an app on your phone."
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
                <Button variant="subtle" color="red" onClick={() => setRemoving(true)}>
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
      <Dialog opened={secret !== null} onClose={() => setSecret(null)} title="Set up the authenticator app">
        <Suspense>{secret && <SetUpAuthenticator {...secret} onConfirmed={confirmed} />}</Suspense>
      </Dialog>
      <Dialog
        opened={codes !== null}
        onClose={() => setCodes(null)}
        title="Recovery codes"
        withCloseButton={false}
        closeOnClickOutside={false}
        closeOnEscape={false}
      >
        {codes && <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
      </Dialog>
      <ConfirmDelete
        title="Remove the authenticator app?"
        confirm="Remove"
        opened={removing}
        onClose={() => setRemoving(false)}
        onConfirm={async () => {
          await api.secondFactor.removeTotp()
          await reload()
        }}
      >
        Its codes and the recovery codes stop working. Organizations that ask for a second factor may shut you out.
      </ConfirmDelete>
    </Section>
  )
}

function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        Each works once instead of the app. Keep them where you will find them without your phone. They are shown only
        now.
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
