import { Anchor, Button, Text } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { identityLinks } from '@skerry/contract/identity-links/endpoints'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { createFileRoute, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../../action.ts'
import { api } from '../../api.ts'
import { FactorForms } from '../../factor-forms.tsx'
import { useLinkToken } from '../../link-token.ts'
import { fetchCached, queryClient } from '../../queries.ts'
import { safeReturn } from '../../return-to.ts'
import { session } from '../../session.ts'
import { AnchorLink } from '../../ui/links.tsx'
import { ProblemAlert } from '../../ui/problem.tsx'
import { StandalonePage } from '../../ui/standalone-page.tsx'

const linkQuery = queryOptions({
  queryKey: ['identity-link'],
  queryFn: ({ signal }) => api.identityLinks.get({}, { signal }),
  staleTime: 0,
})

/**
 * The page for a person who signed in at the identity provider with the e-mail address of an existing account. The link
 * in the e-mail leads here too, with its token after the #.
 */
export const Route = createFileRoute('/sign-in/identity')({
  loader: ({ context }) => context.queryClient.ensureQueryData(linkQuery),
  component: LinkIdentity,
})

type Link = NonNullable<Answer<typeof identityLinks.get>['link']>
type Begun = Answer<typeof identityLinks.decline>

function LinkIdentity() {
  const token = useLinkToken()
  const { link } = useSuspenseQuery(linkQuery).data
  if (!link) return <NothingWaits hasToken={token !== ''} />
  if (link.secondFactor) return <SecondFactor factors={link.secondFactor} />
  if (token !== '') return <Confirm link={link} token={token} />
  return <Ask link={link} />
}

function NothingWaits({ hasToken }: { hasToken: boolean }) {
  return (
    <StandalonePage title="Nothing to confirm in this browser">
      <Text size="sm">
        {hasToken
          ? 'Open the link in the same browser in which you signed in at your identity provider, within an hour. If you did not sign in there, do nothing: nothing has changed.'
          : 'Your sign-in is finished, or it has expired after an hour.'}
      </Text>
      <AnchorLink to="/sign-in" size="sm">
        Sign in
      </AnchorLink>
    </StandalonePage>
  )
}

/** Returns a function that starts the session and opens the page that the person wanted. */
function useEnter() {
  const router = useRouter()
  return (begun: Begun) => {
    session.begin(begun.session)
    queryClient.removeQueries({ queryKey: linkQuery.queryKey })
    router.history.push(safeReturn(begun.returnTo))
  }
}

function Ask({ link }: { link: Link }) {
  const enter = useEnter()
  const [sent, setSent] = useState(false)
  const mail = useAction(async () => {
    await api.identityLinks.requestMail()
    setSent(true)
  })
  const decline = useAction(async () => enter(await api.identityLinks.decline()))
  return (
    <StandalonePage title={sent ? 'Check your mail' : 'Is this your account?'}>
      <Text size="sm">
        {sent
          ? `A link is on its way to ${link.email}. Open it in this browser. It works once, for 15 minutes.`
          : `You signed in at ${link.issuer} as ${link.email}. An account with this address already exists. If it is yours, confirm by mail to keep its organizations and keys.`}
      </Text>
      <Button fullWidth variant={sent ? 'default' : 'filled'} loading={mail.pending} onClick={() => mail.run()}>
        {sent ? 'Mail another link' : 'It is mine: mail me a link'}
      </Button>
      <ProblemAlert error={mail.error} />
      <Anchor component="button" type="button" size="sm" onClick={() => decline.run()}>
        It is not mine: continue with a new account
      </Anchor>
      <ProblemAlert error={decline.error} />
    </StandalonePage>
  )
}

/** The person must click once more, because mail scanners also open links. */
function Confirm({ link, token }: { link: Link; token: string }) {
  const enter = useEnter()
  const action = useAction(async () => {
    const { session: signedIn, returnTo } = await api.identityLinks.confirm({ body: { token } })
    if (signedIn) return enter({ session: signedIn, returnTo })
    // The server now asks for the second factor.
    await fetchCached(linkQuery)
  })
  return (
    <StandalonePage title="Confirm your new sign-in">
      <Text size="sm">
        From now on you sign in to this account at {link.issuer} as {link.email}
        {link.name ? ` (${link.name})` : ''}. The sign-in that you used before ends.
      </Text>
      <ProblemAlert error={action.error} />
      {action.error ? (
        <AnchorLink to="/sign-in/identity" size="sm" reloadDocument>
          Ask for another link
        </AnchorLink>
      ) : (
        <Button fullWidth loading={action.pending} onClick={() => action.run()} autoFocus>
          Confirm
        </Button>
      )}
    </StandalonePage>
  )
}

function SecondFactor({ factors }: { factors: NonNullable<Link['secondFactor']> }) {
  const enter = useEnter()
  return (
    <StandalonePage title="Enter your second factor">
      <Text size="sm">Your account has a second factor. Enter it once more to confirm the new sign-in.</Text>
      <FactorForms
        {...factors}
        askForChallenge={() => api.identityLinks.passkeyOptions()}
        enter={async (body) => enter(await api.identityLinks.enterSecondFactor({ body }))}
      />
    </StandalonePage>
  )
}
