import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { AccountPage } from '../../../account/account-page.tsx'
import { Authenticator } from '../../../account/authenticator.tsx'
import { BrowserSessions } from '../../../account/browser-sessions.tsx'
import { sessionsQuery, signInPasskeysQuery } from '../../../account/queries.ts'
import { SignInPasskeys } from '../../../account/sign-in-passkeys.tsx'
import { secondFactorQuery } from '../../../queries.ts'
import { Loaded } from '../../../ui/loaded.tsx'

export const Route = createFileRoute('/_app/account/signing-in')({
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(secondFactorQuery)
    void context.queryClient.prefetchQuery(signInPasskeysQuery)
    void context.queryClient.prefetchQuery(sessionsQuery)
  },
  component: SigningIn,
})

function SigningIn() {
  const query = useQuery(secondFactorQuery)
  return (
    <AccountPage part="Signing in">
      <Loaded query={query}>
        {(factors) =>
          factors.managed ? (
            <>
              <Authenticator {...factors} />
              <SignInPasskeys />
            </>
          ) : (
            <Text size="sm" c="dimmed" mb="xl">
              You enter your second factor at your identity provider.
            </Text>
          )
        }
      </Loaded>
      <BrowserSessions />
    </AccountPage>
  )
}
