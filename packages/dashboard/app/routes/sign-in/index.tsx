import { Alert, Anchor, Button, Divider, Stack, Text, TextInput } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { createFileRoute, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../../action.ts'
import { api } from '../../api.ts'
import { useApiForm, useSubmit } from '../../form/use-api-form.ts'
import { useInputLost } from '../../lost-input.ts'
import { assertPasskey } from '../../passkeys.ts'
import { safeReturn } from '../../return-to.ts'
import { useUnsaved } from '../../secrets/unsaved.ts'
import { session } from '../../session.ts'
import { waysQuery } from '../../sign-in-ways.ts'
import { CommandLine } from '../../ui/command-line.tsx'
import { Form } from '../../ui/form.tsx'
import { IconFingerprint } from '../../ui/icons.ts'
import { ProblemAlert } from '../../ui/problem.tsx'
import { StandalonePage } from '../../ui/standalone-page.tsx'

export const Route = createFileRoute('/sign-in/')({
  validateSearch: (search): { returnTo?: string; error?: 'external' } => ({
    ...(typeof search.returnTo === 'string' ? { returnTo: safeReturn(search.returnTo) } : {}),
    ...(search.error === 'external' ? { error: search.error } : {}),
  }),
  loader: ({ context }) => context.queryClient.ensureQueryData(waysQuery),
  component: SignIn,
})

function SignIn() {
  const { data } = useSuspenseQuery(waysQuery)
  const { returnTo = '/', error } = Route.useSearch()
  if (data.kind === 'external') return <External returnTo={returnTo} failed={error !== undefined} />
  if (!data.available)
    return (
      <StandalonePage title="Nobody can sign in yet">
        <Text size="sm">
          The operator has to set SKERRY_SERVER_KEY: it signs sessions.{' '}
          <Anchor href="/docs/operations/server-key/">The documentation</Anchor> says how to make one.
        </Text>
      </StandalonePage>
    )
  if (data.setUpNeeded && data.signup === 'closed')
    return (
      <StandalonePage title="Set this server up">
        <Text size="sm">
          Open the link that the server wrote to its log when it started. It makes an organization, and you become its
          owner. The link works for 24 hours, and each start of the server makes another one.
        </Text>
      </StandalonePage>
    )
  if (data.setUpNeeded)
    return (
      <StandalonePage title="Set this server up">
        <Text size="sm">
          Run this command on the machine of the server, and open the link that it prints. It makes an organization, and
          you become its owner. In a checkout of Skerry, write npx in front of it.
        </Text>
        <CommandLine command={`skerry signup "Acme" --email you@example.com --url ${location.origin}`} />
        <Text size="sm">
          You can also do this without a terminal: open the link that the server wrote to its console when it started.
        </Text>
      </StandalonePage>
    )
  return <BuiltIn returnTo={returnTo} sendsMail={data.mail !== 'outbox'} />
}

function External({ returnTo, failed }: { returnTo: string; failed: boolean }) {
  return (
    <StandalonePage title="Sign in to Skerry">
      {failed && (
        <Alert color="red" variant="light" title="Your identity provider did not sign you in" role="alert">
          It refused, could not be reached, or took longer than 10 minutes. Try again. If it happens again, ask the
          operator of this server. The server’s log has the reason.
        </Alert>
      )}
      <Button component="a" href={`/sign-in/external?${new URLSearchParams({ returnTo })}`} fullWidth>
        Continue with your identity provider
      </Button>
      <Waiting />
    </StandalonePage>
  )
}

function BuiltIn({ returnTo, sendsMail }: { returnTo: string; sendsMail: boolean }) {
  const router = useRouter()
  const form = useApiForm('signIn', 'requestLink', { email: '' })
  const [sentTo, setSentTo] = useState<string | null>(null)
  const mail = useSubmit(form, async ({ email }) => {
    await api.signIn.requestLink({ body: { email, returnTo } })
    setSentTo(email)
  })
  const passkey = useAction(async () => {
    const challenge = await api.signIn.passkeyOptions()
    const response = await assertPasskey(challenge)
    const signedIn = await api.signIn.passkey({ body: { challengeId: challenge.challengeId, response } })
    session.begin(signedIn.session)
    router.history.push(returnTo)
  })
  if (sentTo)
    return (
      <StandalonePage title={sendsMail ? 'Check your mail' : 'Ask for your link'}>
        <Text size="sm">
          {sendsMail
            ? `If ${sentTo} belongs to someone here, a link to sign in is on its way. `
            : `This server sends no mail. If ${sentTo} belongs to someone here, your link is in the folder “outbox” of the server’s data directory. Ask the operator of the server for it. `}
          It works once, for 15 minutes.
        </Text>
        <Anchor component="button" type="button" size="sm" onClick={() => setSentTo(null)}>
          Use another address
        </Anchor>
      </StandalonePage>
    )
  return (
    <StandalonePage title="Sign in to Skerry">
      <Form onSubmit={() => mail.run()}>
        <Stack gap="sm">
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username webauthn"
            autoFocus
            {...form.getInputProps('email')}
          />
          <Button type="submit" fullWidth loading={mail.pending}>
            Mail me a link
          </Button>
        </Stack>
      </Form>
      <ProblemAlert error={mail.error} />
      <Divider label="or" />
      <Button
        variant="default"
        fullWidth
        leftSection={<IconFingerprint size={18} />}
        loading={passkey.pending}
        onClick={() => passkey.run()}
      >
        Use a passkey
      </Button>
      <ProblemAlert error={passkey.error} />
      <Waiting />
    </StandalonePage>
  )
}

/** Messages for a person whose session ended while they were editing. */
function Waiting() {
  const isInputLost = useInputLost()
  const unsaved = useUnsaved()
  return (
    <>
      {unsaved.length > 0 && (
        <Text size="sm" c="dimmed">
          This tab keeps your unsaved changes, encrypted. Sign in here, go back to their page and unlock your keyring.
        </Text>
      )}
      {isInputLost && (
        <Text size="sm" c="dimmed">
          Your session ended, and the text in the open dialog was lost. Sign in and enter it again.
        </Text>
      )}
    </>
  )
}
