import { Button, Group } from '@mantine/core'
import { createFileRoute, redirect } from '@tanstack/react-router'
import { OwnInvitations } from '../../account/own-invitations.tsx'
import { ownInvitesQuery } from '../../account/queries.ts'
import { NewOrgDialog } from '../../new-org.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'
import { useDialog } from '../../ui/use-dialog.ts'

/** The start page redirects to the person's first organization. A person without one can create it here. */
export const Route = createFileRoute('/_app/')({
  beforeLoad: ({ context }) => {
    const [org] = context.me.orgs
    if (org) throw redirect({ to: '/orgs/$org', params: { org: org.slug } })
  },
  loader: ({ context }) => void context.queryClient.prefetchQuery(ownInvitesQuery),
  component: Start,
})

function Start() {
  const creating = useDialog()
  return (
    <Page title="Welcome" width="text">
      <OwnInvitations
        empty={
          <Empty title="You are in no organization yet">
            Create one, or ask someone to invite you to theirs by e-mail.
          </Empty>
        }
      />
      <Group justify="center">
        <Button onClick={() => creating.open()}>New organization</Button>
      </Group>
      {creating.show((onClose) => (
        <NewOrgDialog onClose={onClose} />
      ))}
    </Page>
  )
}
