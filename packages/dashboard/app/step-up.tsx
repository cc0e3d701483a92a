import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from './api.ts'
import { type Factor, FactorForms } from './factor-forms.tsx'
import { stepUpPrompt } from './prompts.ts'
import { fetchCached, meQuery, queryClient, secondFactorQuery } from './queries.ts'
import { router } from './router.ts'
import { session } from './session.ts'
import { Dialog } from './ui/dialog.tsx'
import { Loaded } from './ui/loaded.tsx'

async function enter(body: Factor) {
  const { session: renewed } = await api.secondFactor.stepUp({ body })
  session.begin(renewed)
  stepUpPrompt.complete()
  // Without the second factor, the session may have listed no organizations.
  if (queryClient.getQueryData(meQuery.queryKey)?.orgs.length !== 0) return
  await fetchCached({ ...meQuery, staleTime: 0 })
  await router.invalidate()
}

/** Opens when the server requires a fresh second factor. The request continues after the person enters it. */
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
          ? 'This action needs a second factor, and you have none yet. Set one up on the page “Signing in” of your account, then try again.'
          : 'This action needs a recent second factor. Sign in again with your identity provider, then try again.'}
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
  return (
    <Stack>
      <Text size="sm">This action needs your second factor again.</Text>
      <FactorForms
        totp={totp}
        passkeys={signInPasskeys > 0}
        askForChallenge={() => api.secondFactor.stepUpOptions()}
        enter={enter}
      />
    </Stack>
  )
}
