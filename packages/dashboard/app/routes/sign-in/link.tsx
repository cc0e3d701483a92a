import { Button, Text } from '@mantine/core'
import { RefusedError } from '@skerry/sdk/errors'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, useRouter } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../../action.ts'
import { api } from '../../api.ts'
import { useLinkToken } from '../../link-token.ts'
import { safeReturn } from '../../return-to.ts'
import { session } from '../../session.ts'
import { AnchorLink } from '../../ui/links.tsx'
import { ProblemAlert } from '../../ui/problem.tsx'
import { StandalonePage } from '../../ui/standalone-page.tsx'

const Invitation = lazy(async () => ({ default: (await import('../../welcome/invitation.tsx')).Invitation }))

/**
 * The page that the link in a sign-in e-mail opens. The person must click once more, because mail scanners also open
 * links.
 */
export const Route = createFileRoute('/sign-in/link')({ component: SignInLink })

function SignInLink() {
  const token = useLinkToken()
  const { data: invitation, isPending } = useInvitation(token)
  if (token !== '' && isPending) return null
  if (!invitation) return <OrdinaryLink token={token} />
  return (
    <Suspense>
      <Invitation token={token} invitation={invitation} />
    </Suspense>
  )
}

/** The invitation of a link. Null for a link that came with none, and for one that no longer works. */
const useInvitation = (token: string) =>
  useQuery({
    // A key with the token would keep it in the cache.
    queryKey: ['invitation-of-link'],
    queryFn: async ({ signal }) => {
      try {
        return (await api.signIn.showInvitation({ body: { token } }, { signal })).invitation
      } catch (error) {
        if (error instanceof RefusedError) return null
        throw error
      }
    },
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

function OrdinaryLink({ token }: { token: string }) {
  const router = useRouter()
  const action = useAction(async () => {
    const { session: signedIn, returnTo } = await api.signIn.redeemLink({ body: { token } })
    session.begin(signedIn)
    router.history.push(safeReturn(returnTo ?? '/'))
  })
  return (
    <StandalonePage title="Sign in to Skerry">
      <Text size="sm">
        {token === ''
          ? 'Open the complete link from the mail. It works once. The part after the # is missing here.'
          : 'This link signs you in. It works once.'}
      </Text>
      <ProblemAlert error={action.error} />
      {action.error || token === '' ? (
        <AnchorLink to="/sign-in" size="sm">
          Ask for another link
        </AnchorLink>
      ) : (
        <Button fullWidth loading={action.pending} onClick={() => action.run()} autoFocus>
          Sign in
        </Button>
      )}
    </StandalonePage>
  )
}
