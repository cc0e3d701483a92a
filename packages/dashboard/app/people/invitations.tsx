import type { Answer } from '@skerry/contract/endpoint'
import type { invites as endpoints } from '@skerry/contract/members/endpoints'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { OneLine } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { invitesQuery } from './queries.ts'

type Invite = Answer<typeof endpoints.list>['invites'][number]

/** The open invitations of the organization. */
export function Invitations() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(invitesQuery(org.id))
  const nameOf = useNameOf(org.id)
  const revoking = useConfirm(({ id, email }: Invite) => ({
    title: 'Revoke this invitation?',
    text: `${email} can no longer join with it.`,
    confirm: 'Revoke',
    onConfirm: () => api.invites.delete({ params: { orgId: org.id, inviteId: id } }),
    stale: [invitesQuery(org.id)],
  }))
  const columns: ListColumn<Invite>[] = [
    { header: 'Address', cell: ({ email }) => <OneLine text={email} />, sort: ({ email }) => email },
    { header: 'Role', cell: ({ role }) => role, sort: ({ role }) => role, width: 110 },
    { header: 'Invited by', cell: ({ invitedById }) => <OneLine text={nameOf(invitedById)} /> },
    timeColumn('Expires', 'expiresAt', 130),
  ]
  return (
    <Section
      title="Invitations"
      description="Anyone who signs in with the address can accept. They make their own key first; then you can grant them keys."
    >
      <List
        label="Invitations"
        query={query}
        rows={({ invites }) => invites}
        columns={columns}
        minWidth={640}
        rowId={({ id }) => id}
        rowName={({ email }) => email}
        action={(invite) => ({ label: 'Revoke', danger: true, onClick: () => revoking.open(invite) })}
        empty={
          <Empty title="No one is invited" command={`skerry invite create name@example.com --org ${org.slug}`}>
            Invite people by e-mail address, above or from a terminal.
          </Empty>
        }
      />
      {revoking.dialog}
    </Section>
  )
}
