import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { OwnShareSection } from '../../../../recovery/own-share.tsx'
import { ownShareQuery, recoveryKeyQuery, recoveryQuery, requestsQuery } from '../../../../recovery/queries.ts'
import { Requests } from '../../../../recovery/requests.tsx'
import { AnchorLink } from '../../../../ui/links.tsx'
import { Page, Section } from '../../../../ui/page.tsx'

// Loaded separately, because members do not need it.
const Status = lazy(async () => ({ default: (await import('../../../../recovery/status.tsx')).Status }))

export const Route = createFileRoute('/_app/orgs/$org/recovery/')({
  loader: ({ context: { queryClient, org } }) => {
    void queryClient.prefetchQuery(recoveryKeyQuery(org.id))
    void queryClient.prefetchQuery(ownShareQuery(org.id))
    void queryClient.prefetchQuery(requestsQuery(org.id))
    if (org.role !== 'member') void queryClient.prefetchQuery(recoveryQuery(org.id))
  },
  component: RecoveryPage,
})

function RecoveryPage() {
  const { org } = Route.useRouteContext()
  return (
    <Page
      title="Recovery"
      about="No machine has the recovery key. Custodians hold shares of it, and enough of them together can open the environments that it covers."
    >
      <Suspense>{org.role !== 'member' && <Status />}</Suspense>
      <OwnShareSection />
      <Requests />
      <Section
        title="You forgot your passphrase?"
        description="Custodians can give you access again. Tell them the words of your new key."
        actions={
          <AnchorLink to="/orgs/$org/recovery/forgot" params={{ org: org.slug }} size="sm">
            What to do, step by step
          </AnchorLink>
        }
      />
    </Page>
  )
}
