import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { keysQuery } from '../../../../queries.ts'
import { recoveryKeyQuery, requestsQuery } from '../../../../recovery/queries.ts'
import { Page } from '../../../../ui/page.tsx'

// Loaded separately, so that the page appears before the stepper's code is there.
const Forgot = lazy(async () => ({ default: (await import('../../../../recovery/forgot.tsx')).Forgot }))

export const Route = createFileRoute('/_app/orgs/$org/recovery/forgot')({
  loader: ({ context: { queryClient, org } }) => {
    void queryClient.prefetchQuery(keysQuery)
    void queryClient.prefetchQuery(recoveryKeyQuery(org.id))
    void queryClient.prefetchQuery(requestsQuery(org.id))
  },
  component: ForgotPage,
})

function ForgotPage() {
  const { org } = Route.useRouteContext()
  return (
    <Page
      title="You forgot your passphrase"
      part="Recovery"
      crumbs={[{ label: 'Recovery', link: { to: '/orgs/$org/recovery', params: { org: org.slug } } }]}
      about="Nobody can tell you the passphrase. With the help of custodians, you get access again under a new one."
      width="text"
    >
      <Suspense>
        <Forgot />
      </Suspense>
    </Page>
  )
}
