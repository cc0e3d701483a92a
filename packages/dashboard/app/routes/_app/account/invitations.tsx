import { createFileRoute } from '@tanstack/react-router'
import { AccountPage } from '../../../account/account-page.tsx'
import { OwnInvitations } from '../../../account/own-invitations.tsx'
import { ownInvitesQuery } from '../../../account/queries.ts'
import { Empty } from '../../../ui/empty.tsx'

export const Route = createFileRoute('/_app/account/invitations')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(ownInvitesQuery),
  component: Invitations,
})

function Invitations() {
  return (
    <AccountPage part="Invitations">
      <OwnInvitations
        empty={<Empty title="No invitation waits for you">Invitations to your e-mail address appear here.</Empty>}
      />
    </AccountPage>
  )
}
