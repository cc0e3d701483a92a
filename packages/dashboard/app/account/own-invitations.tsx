import { Button, Group } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { ownInvites } from '@skerry/contract/members/own-invites'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { useReloadMe } from '../reload-me.ts'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { ownInvitesQuery } from './queries.ts'

type Invite = Answer<typeof ownInvites.list>['invites'][number]

/** The person's open invitations. Signing in accepts none of them, because anyone can invite anybody. */
export function OwnInvitations({ empty }: { empty: ReactNode }) {
  const query = useQuery(ownInvitesQuery)
  const reloadMe = useReloadMe()
  const navigate = useNavigate()
  const declining = useConfirm(({ id, orgName }: Invite) => ({
    title: 'Decline this invitation?',
    text: `You do not join ${orgName}. Its admins can invite you again.`,
    confirm: 'Decline',
    onConfirm: () => api.ownInvites.decline({ params: { inviteId: id } }),
    stale: [ownInvitesQuery],
  }))
  const accept = useAction(
    async ({ id }: Invite) => {
      const { org } = await api.ownInvites.accept({ params: { inviteId: id } })
      showToast(`You are ${org.role === 'member' ? 'a member' : `an ${org.role}`} of ${org.name} now.`)
      await reloadMe()
      await navigate({ to: '/orgs/$org', params: { org: org.slug } })
    },
    { stale: [ownInvitesQuery] },
  )
  const columns: ListColumn<Invite>[] = [
    {
      header: 'Organization (a name that it chose itself)',
      cell: ({ orgName, orgSlug }) => <TwoLines main={orgName} below={orgSlug} />,
    },
    { header: 'Invited by', cell: ({ invitedBy }) => <OneLine text={invitedBy ?? 'a token or a machine client'} /> },
    { header: 'Role', cell: ({ role }) => role, width: 90 },
    { header: 'Expires', cell: ({ expiresAt }) => <RelativeTime at={expiresAt} />, width: 110 },
    {
      header: 'Answer',
      width: 190,
      cell: (invite) => (
        <Group gap="xs" wrap="nowrap">
          <Button
            size="compact-sm"
            disabled={accept.pending}
            aria-label={`Accept ${invite.orgName}`}
            onClick={() => accept.run(invite)}
          >
            Accept
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Decline ${invite.orgName}`}
            onClick={() => declining.open(invite)}
          >
            Decline
          </Button>
        </Group>
      ),
    },
  ]
  return (
    <>
      <ProblemAlert error={accept.error} />
      <List
        label="Your invitations"
        query={query}
        rows={({ invites }) => invites}
        columns={columns}
        minWidth={700}
        rowId={({ id }) => id}
        rowName={({ orgName }) => orgName}
        empty={empty}
      />
      {declining.dialog}
    </>
  )
}
