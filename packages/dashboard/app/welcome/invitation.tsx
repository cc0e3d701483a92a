import { Alert, Button, Stack, Text, TextInput } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { signIn } from '@skerry/contract/sign-in/endpoints'
import { useRouter } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useApiForm, useSubmit } from '../form/use-api-form.ts'
import { fetchCached, meQuery } from '../queries.ts'
import { session } from '../session.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { Form } from '../ui/form.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { StandalonePage } from '../ui/standalone-page.tsx'

type LinkedInvitation = Answer<typeof signIn.showInvitation>['invitation']

const roleWords = { admin: 'an admin', member: 'a member', owner: 'the owner' } as const

/** The page of an invitation's link. Showing it joins nothing, because mail scanners open links too. */
export function Invitation({ token, invitation }: { token: string; invitation: LinkedInvitation }) {
  const { orgName, invitedBy, invitedByName, role, becomesOwner, email, expiresAt, signsIn, hasJoiningCode } =
    invitation
  const inviter = invitedByName ?? invitedBy
  return (
    <StandalonePage title={inviter === null ? `You are invited to ${orgName}` : `${inviter} invited you to ${orgName}`}>
      <Text size="sm">
        {sourceOf(invitation)}
        You would be {roleWords[becomesOwner ? 'owner' : role]} of {orgName}. The invitation is for {email}.
      </Text>
      {signsIn ? (
        <>
          {hasJoiningCode && <SafeWay inviter={inviter} />}
          <Join token={token} invitation={invitation} />
          <Text size="sm" c="dimmed">
            Not now? The invitation expires <RelativeTime at={expiresAt} />. If you did not expect it, close this page.
          </Text>
        </>
      ) : (
        <Over invitation={invitation} />
      )}
    </StandalonePage>
  )
}

/** Says who made the invitation. With `skerry signup`, people invite themselves, and a stranger may invite anybody. */
function sourceOf({ orgName, invitedBy, invitedByName, becomesOwner }: LinkedInvitation): string {
  if (invitedBy !== null) return invitedByName === null ? '' : `${invitedByName} is ${invitedBy}. `
  return becomesOwner
    ? `You or somebody else signed up ${orgName} with “skerry signup”. The organization has no owner yet. `
    : `A service token or a machine client of ${orgName} made this invitation. `
}

/** This page comes from the server, so it cannot prove the organization. A joining code can, in the command. */
function SafeWay({ inviter }: { inviter: string | null }) {
  return (
    <Alert color="yellow" variant="light" title="Join with the joining code instead">
      {inviter ?? 'Your organization'} has a joining code for you. The code proves that this server shows you the right
      organization. Ask for it by phone, for example, and join with these commands. This page joins without the code.
      <CommandLine command={`skerry login --url ${location.origin}`} />
      <CommandLine command="skerry keys init" />
      <CommandLine command="skerry invite accept --code" />
    </Alert>
  )
}

function Join({ token, invitation }: { token: string; invitation: LinkedInvitation }) {
  const router = useRouter()
  const form = useApiForm('signIn', 'redeemLink', { name: '' })
  const join = useSubmit(form, async ({ name }) => {
    const { session: signedIn } = await api.signIn.redeemLink({ body: { token, name } })
    session.begin(signedIn)
    const { orgs } = await fetchCached(meQuery)
    const hasJoined = orgs.some(({ slug }) => slug === invitation.orgSlug)
    // Somebody with a second factor accepts the invitation after they have entered it.
    router.history.push(hasJoined ? `/orgs/${invitation.orgSlug}/welcome` : '/account/invitations')
  })
  return (
    <Form onSubmit={() => join.run()}>
      <Stack gap="sm">
        <TextInput
          label="Your name"
          description="The other members see it."
          autoComplete="name"
          autoFocus
          {...form.getInputProps('name')}
        />
        <ProblemAlert error={join.error} />
        <Button type="submit" fullWidth loading={join.pending}>
          Join {invitation.orgName}
        </Button>
      </Stack>
    </Form>
  )
}

/** Says why the link no longer signs in, and what to do instead. */
function Over({ invitation }: { invitation: LinkedInvitation }) {
  const { usedAt, acceptedAt } = invitation
  if (acceptedAt !== null)
    return (
      <>
        <Text size="sm">
          This invitation was accepted <RelativeTime at={acceptedAt} />. If that was not you, tell the person who
          invited you.
        </Text>
        <AnchorLink to="/sign-in" size="sm">
          Sign in
        </AnchorLink>
      </>
    )
  return (
    <>
      <Text size="sm">
        {usedAt === null ? (
          'You have an account here, and this link is older than 15 minutes. Sign in, and then accept the invitation.'
        ) : (
          <>
            This link was used <RelativeTime at={usedAt} />. Sign in, and then accept the invitation.
          </>
        )}
      </Text>
      <AnchorLink to="/sign-in" search={{ returnTo: '/account/invitations' }} size="sm">
        Sign in
      </AnchorLink>
    </>
  )
}
