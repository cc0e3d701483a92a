import { Badge, Box, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../create-search.ts'
import { KeyStatus } from '../../../envs/key-status.tsx'
import { type Checked, checkedQuery } from '../../../envs/pins.ts'
import { GrantAccessDialog } from '../../../granting/lazy.ts'
import { Offboardings } from '../../../offboarding/offboardings.tsx'
import { waitingQuery } from '../../../passing/count.ts'
import { Invitations } from '../../../people/invitations.tsx'
import { type Member, nameOfMember, type OpenDialog } from '../../../people/member.ts'
import { invitesQuery } from '../../../people/queries.ts'
import { RekeyNotice } from '../../../people/rekey-notice.tsx'
import { membersQuery } from '../../../secrets/use-name-of.ts'
import { TwoLines } from '../../../ui/cells.tsx'
import { IconUserPlus } from '../../../ui/icons.ts'
import { List, type ListColumn, type RowAction } from '../../../ui/list.tsx'
import { Page } from '../../../ui/page.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'
import { useDialog } from '../../../ui/use-dialog.ts'

// Each dialog is loaded when it first opens.
const InviteDialog = lazy(async () => ({ default: (await import('../../../people/invite-dialog.tsx')).InviteDialog }))
const MemberDialog = lazy(async () => ({ default: (await import('../../../people/member-dialogs.tsx')).MemberDialog }))

export const Route = createFileRoute('/_app/orgs/$org/members')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    void queryClient.prefetchQuery(membersQuery(org.id))
    if (org.role !== 'member') void queryClient.prefetchQuery(invitesQuery(org.id))
  },
  component: Members,
})

function Members() {
  const { org } = Route.useRouteContext()
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  const isAdmin = org.role !== 'member'
  return (
    <Page
      title="Members"
      about="The words stand for a member’s key. Compare them with the member, over the phone or in person: a malicious server could show you its own key here."
      actions={
        isAdmin && (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => navigate({ search: { create: true } })}>
            Invite
          </Button>
        )
      }
    >
      <RekeyNotice />
      {isAdmin && <Offboardings />}
      <Box mb="xl">
        <MemberList />
      </Box>
      {isAdmin && <Invitations />}
      <Suspense>{isAdmin && create && <InviteDialog onClose={() => navigate({ search: {} })} />}</Suspense>
    </Page>
  )
}

function MemberList() {
  const { org, me } = Route.useRouteContext()
  const query = useQuery(membersQuery(org.id))
  const dialog = useDialog<OpenDialog>()
  const granting = useDialog<Member>()
  const holders = (query.data?.members ?? []).flatMap(({ userId, publicKeyJwk }) =>
    publicKeyJwk === null ? [] : [{ principalId: userId, publicKeyJwk }],
  )
  const { data, error } = useQuery(checkedQuery(holders))
  const checkedOf = new Map(holders.map(({ principalId }, i) => [principalId, data?.[i]]))
  const isSelf = ({ userId }: Member) => userId === me.user?.id
  const waiting = useQuery({ ...waitingQuery(org.id), enabled: org.role !== 'member' }).data
  const columns: ListColumn<Member>[] = [
    {
      header: 'Member',
      cell: (member) => <Identity member={member} isSelf={isSelf(member)} />,
      sort: nameOfMember,
      width: '30%',
    },
    { header: 'Role', cell: ({ role }) => role, sort: ({ role }) => role, width: 110 },
    {
      header: 'Key',
      cell: (member) => (
        <>
          <KeyState member={member} isSelf={isSelf(member)} checked={checkedOf.get(member.userId)} />
          <Waiting
            keys={waiting?.get(member.userId) ?? 0}
            name={nameOfMember(member)}
            checked={checkedOf.get(member.userId)}
            onPass={() => dialog.open({ kind: 'pass-on', member, checked: checkedOf.get(member.userId) })}
          />
        </>
      ),
    },
  ]
  const actions = (member: Member): RowAction[] => {
    const checked = checkedOf.get(member.userId)
    const open = (kind: OpenDialog['kind']) => () => dialog.open({ kind, member, checked })
    const mayManage = org.role !== 'member' && (member.role !== 'owner' || org.role === 'owner')
    return [
      !isSelf(member) && { label: 'Compare the key…', onClick: open('compare'), disabled: !checked },
      !isSelf(member) && org.role !== 'member' && { label: 'Grant access…', onClick: () => granting.open(member) },
      mayManage && { label: 'Change the role…', onClick: open('role') },
      isSelf(member) && { label: `Leave ${org.name}…`, onClick: open('leave'), danger: true },
      !isSelf(member) && mayManage && { label: 'Offboard…', onClick: open('offboard'), danger: true },
      !isSelf(member) && mayManage && { label: 'Remove…', onClick: open('remove'), danger: true },
    ].filter((action) => action !== false)
  }
  return (
    <>
      <ProblemAlert error={error} />
      <List
        label="Members"
        query={query}
        rows={({ members }) => members}
        columns={columns}
        minWidth={760}
        rowId={({ userId }) => userId}
        rowName={nameOfMember}
        actions={actions}
        empty={null}
      />
      <Suspense>
        {dialog.show((onClose, opened) => (
          <MemberDialog dialog={opened} onClose={onClose} />
        ))}
        {granting.show((onClose, { userId }) => (
          <GrantAccessDialog first={[{ kind: 'person', id: userId }]} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}

function Identity({ member, isSelf }: { member: Member; isSelf: boolean }) {
  const name = nameOfMember(member)
  const address = member.email ?? member.userId
  const below = [isSelf ? 'you' : '', address === name ? '' : address].filter(Boolean).join(' · ')
  return <TwoLines main={name} below={below === '' ? null : below} belowTitle={address} />
}

/** A person who waits for keys that this admin holds, with the button that passes them on. */
function Waiting(props: { keys: number; name: string; checked: Checked | undefined; onPass: () => void }) {
  const { keys, name, checked, onPass } = props
  if (keys === 0) return null
  const count = keys === 1 ? '1 key' : `${keys} keys`
  const act = checked?.status === 'verified' ? `Pass on ${count}` : 'Compare words'
  return (
    <Group gap="xs" mt={4}>
      <Badge color="yellow" variant="light">
        waits for {count}
      </Badge>
      <Button
        size="compact-xs"
        aria-label={`${act} ${checked?.status === 'verified' ? 'to' : 'with'} ${name}`}
        onClick={onPass}
      >
        {act}
      </Button>
    </Group>
  )
}

function KeyState({ member, isSelf, checked }: { member: Member; isSelf: boolean; checked: Checked | undefined }) {
  if (member.publicKeyJwk === null)
    return (
      <Badge color="gray" variant="light">
        no key yet
      </Badge>
    )
  return (
    <>
      <Text size="xs" className="mono">
        {checked?.words}
      </Text>
      <KeyStatus checked={checked} isSelf={isSelf} />
    </>
  )
}
