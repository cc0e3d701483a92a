import { Button, Text } from '@mantine/core'
import { createFileRoute, useRouter } from '@tanstack/react-router'
import { useAction } from '../../action.ts'
import { api } from '../../api.ts'
import { useLinkToken } from '../../link-token.ts'
import { safeReturn } from '../../return-to.ts'
import { session } from '../../session.ts'
import { AnchorLink } from '../../ui/links.tsx'
import { ProblemAlert } from '../../ui/problem.tsx'
import { StandalonePage } from '../../ui/standalone-page.tsx'

/**
 * The page that the link in a sign-in e-mail opens. The person must click once more, because mail scanners also open
 * links.
 */
export const Route = createFileRoute('/sign-in/link')({ component: SignInLink })

function SignInLink() {
  const token = useLinkToken()
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
          ? 'Open the whole link from the mail, and once only. What comes after the # is missing here.'
          : 'This link signs you in, and accepts the invitation that it came with, if any. It works once.'}
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
