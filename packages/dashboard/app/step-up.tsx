import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { Body } from '@skerry/contract/endpoint'
import type { secondFactor } from '@skerry/contract/second-factor'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from './action.ts'
import { api } from './api.ts'
import { assertPasskey } from './passkeys.ts'
import { stepUpPrompt } from './prompts.ts'
import { meQuery, queryClient, secondFactorQuery } from './queries.ts'
import { router } from './router.ts'
import { session } from './session.ts'
import { Dialog } from './ui/dialog.tsx'
import { Form } from './ui/form.tsx'
import { IconFingerprint } from './ui/icons.ts'
import { Loaded } from './ui/loaded.tsx'
import { ProblemAlert } from './ui/problem.tsx'
import { SixDigits } from './ui/six-digits.tsx'

type Factor = Body<typeof secondFactor.stepUp>

async function enter(body: Factor) {
  const { session: renewed } = await api.secondFactor.stepUp({ body })
  session.begin(renewed)
  stepUpPrompt.complete()
  // Before, it may have heard of no organizations.
  if (queryClient.getQueryData(meQuery.queryKey)?.orgs.length !== 0) return
  await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
  await router.invalidate()
}

async function enterPasskey() {
  const challenge = await api.secondFactor.stepUpOptions()
  await enter({ passkey: { challengeId: challenge.challengeId, response: await assertPasskey(challenge) } })
}

/** Opens when the server wants a fresh second factor; the request continues once it is entered. */
export function StepUpDialog() {
  return (
    <Dialog opened onClose={stepUpPrompt.cancel} title="Confirm that it is you">
      <StepUp />
    </Dialog>
  )
}

function StepUp() {
  const query = useQuery({ ...secondFactorQuery, staleTime: 0 })
  return (
    <Loaded query={query}>
      {(factors) => (factors.enrolled ? <Enter {...factors} /> : <NoFactor managed={factors.managed} />)}
    </Loaded>
  )
}

function NoFactor({ managed }: { managed: boolean }) {
  return (
    <Stack>
      <Text size="sm">
        {managed
          ? 'This asks for a second factor, and you have none yet. Set one up on the page “Signing in” of your account, then repeat this.'
          : 'This asks for a second factor entered lately. Sign in again with your identity provider, then repeat this.'}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={stepUpPrompt.cancel}>
          Not now
        </Button>
        {managed ? <Button onClick={setOneUp}>Set one up</Button> : <SignInAgain />}
      </Group>
    </Stack>
  )
}

function setOneUp() {
  stepUpPrompt.cancel()
  void router.navigate({ to: '/account/signing-in' })
}

function SignInAgain() {
  const returnTo = location.pathname + location.search
  return (
    <Button component="a" href={`/sign-in/external?${new URLSearchParams({ returnTo, stepUp: '1' })}`}>
      Sign in again
    </Button>
  )
}

function Enter({ totp, signInPasskeys }: { totp: boolean; signInPasskeys: number }) {
  const [recovering, setRecovering] = useState(false)
  const passkey = useAction(enterPasskey)
  return (
    <Stack>
      <Text size="sm">What you are about to do needs your second factor again.</Text>
      {signInPasskeys > 0 && (
        <Button leftSection={<IconFingerprint size={18} />} loading={passkey.pending} onClick={() => passkey.run()}>
          Use a passkey
        </Button>
      )}
      <ProblemAlert error={passkey.error} />
      {totp && (recovering ? <RecoveryCode /> : <Code />)}
      {totp && (
        <Anchor component="button" type="button" size="sm" onClick={() => setRecovering(!recovering)}>
          {recovering ? 'Use the authenticator app' : 'Use a recovery code'}
        </Anchor>
      )}
    </Stack>
  )
}

function Code() {
  const action = useAction((code: string) => enter({ code }))
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Six digits from your authenticator app
      </Text>
      <SixDigits label="Six digits from your authenticator app" onComplete={action.run} />
      <ProblemAlert
        error={action.error}
        onForbidden="Each code works once. Enter the next one; if that is wrong too, set your phone’s clock right."
      />
    </Stack>
  )
}

function RecoveryCode() {
  const [recoveryCode, setRecoveryCode] = useState('')
  const action = useAction(() => enter({ recoveryCode: recoveryCode.trim().toUpperCase() }))
  return (
    <Form onSubmit={() => action.run()}>
      <Stack gap="xs">
        <TextInput
          label="Recovery code"
          placeholder="4XK7P-M2QRA"
          value={recoveryCode}
          onChange={(event) => setRecoveryCode(event.currentTarget.value)}
          autoComplete="off"
          autoFocus
        />
        <ProblemAlert error={action.error} onForbidden="Check every character, or use another of your codes." />
        <Button type="submit" loading={action.pending}>
          Continue
        </Button>
      </Stack>
    </Form>
  )
}
