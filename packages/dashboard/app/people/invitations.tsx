import { Button, Group } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { invites as endpoints } from '@skerry/contract/members/endpoints'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { OneLine } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime, timeColumn } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { NoMail } from './no-mail.tsx'
import { invitesQuery, teamsQuery } from './queries.ts'

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
  const resend = useAction(
    async ({ id, email }: Invite) => {
      await api.invites.resend({ params: { orgId: org.id, inviteId: id } })
      showToast(`${email} was invited again. The link in the earlier mail no longer works.`)
    },
    { stale: [invitesQuery(org.id)] },
  )
  const columns: ListColumn<Invite>[] = [
    { header: 'Address', cell: ({ email }) => <OneLine text={email} />, sort: ({ email }) => email },
    { header: 'Role', cell: ({ role }) => role, sort: ({ role }) => role, width: 90 },
    { header: 'Should read', cell: (invite) => <Intended invite={invite} />, width: 170 },
    { header: 'Invited by', cell: ({ invitedById }) => <OneLine text={nameOf(invitedById)} /> },
    { header: 'State', cell: (invite) => <State invite={invite} />, sort: ({ sentAt }) => sentAt },
    timeColumn('Expires', 'expiresAt', 110),
    {
      header: 'Actions',
      width: 190,
      cell: (invite) => (
        <Group gap="xs" wrap="nowrap">
          <Button
            size="compact-sm"
            variant="default"
            disabled={resend.pending}
            aria-label={`Send again to ${invite.email}`}
            onClick={() => resend.run(invite)}
          >
            Send again
          </Button>
          <Button
            size="compact-sm"
            variant="subtle"
            color="red"
            aria-label={`Revoke ${invite.email}`}
            onClick={() => revoking.open(invite)}
          >
            Revoke
          </Button>
        </Group>
      ),
    },
  ]
  return (
    <Section
      title="Invitations"
      description="Anyone who reads the mail can join. They make their own keyring first. Then you compare words, and pass on what they should read."
    >
      <NoMail />
      <ProblemAlert error={resend.error} />
      <List
        label="Invitations"
        query={query}
        rows={({ invites }) => invites}
        columns={columns}
        minWidth={900}
        rowId={({ id }) => id}
        rowName={({ email }) => email}
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

/** The teams and environments of an invitation. Those that were deleted meanwhile are no longer in it. */
function Intended({ invite: { teamIds, environmentIds } }: { invite: Invite }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const teams = useQuery(teamsQuery(org.id)).data ?? []
  const names = teams.flatMap(({ id, name }) => (teamIds.includes(id) ? [name] : []))
  const count = environmentIds.length
  const parts = [...names, ...(count === 0 ? [] : [count === 1 ? '1 environment' : `${count} environments`])]
  return <OneLine text={parts.join(', ')} />
}

/** When the mail was sent, and whether its link was used. */
function State({ invite: { sentAt, linkUsedAt } }: { invite: Invite }) {
  if (linkUsedAt === null)
    return (
      <>
        sent <RelativeTime at={sentAt} />
      </>
    )
  return (
    <>
      link used <RelativeTime at={linkUsedAt} />, not accepted
    </>
  )
}
