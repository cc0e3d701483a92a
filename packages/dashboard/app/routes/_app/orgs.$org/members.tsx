import { ActionIcon, Badge, Box, Button, Menu, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { beginning } from '../../../begin.ts'
import { type Checked, checkedQuery } from '../../../envs/pins.ts'
import { Standing } from '../../../envs/standing.tsx'
import { type Ended, RekeyHint } from '../../../people/holdings.tsx'
import { Invitations } from '../../../people/invitations.tsx'
import { type Asking, type Member, nameOfMember } from '../../../people/member.ts'
import { invitesQuery } from '../../../people/queries.ts'
import { membersQuery } from '../../../secrets/use-name-of.ts'
import { IconEllipsis, IconUserPlus } from '../../../ui/icons.ts'
import { Loaded } from '../../../ui/loaded.tsx'
import { Page } from '../../../ui/page.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'

// Loaded when first asked for.
const InviteDialog = lazy(async () => ({ default: (await import('../../../people/invite-dialog.tsx')).InviteDialog }))
const MemberDialog = lazy(async () => ({ default: (await import('../../../people/member-dialogs.tsx')).MemberDialog }))

export const Route = createFileRoute('/_app/orgs/$org/members')({
  validateSearch: beginning,
  loader: ({ context: { queryClient, org } }) => {
    void queryClient.prefetchQuery(membersQuery(org.id))
    if (org.role !== 'member') void queryClient.prefetchQuery(invitesQuery(org.id))
  },
  component: Members,
})

function Members() {
  const { org } = Route.useRouteContext()
  const { begin } = Route.useSearch()
  const navigate = Route.useNavigate()
  const query = useQuery(membersQuery(org.id))
  const [ended, setEnded] = useState<Ended | null>(null)
  const isAdmin = org.role !== 'member'
  return (
    <Page
      title="Members"
      description="Who is in this organization, and the keys to which values are encrypted for them."
      actions={
        isAdmin && (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => navigate({ search: { begin: true } })}>
            Invite
          </Button>
        )
      }
    >
      <RekeyHint ended={ended} onClose={() => setEnded(null)} />
      <Box mb="xl">
        <Loaded query={query}>{({ members }) => <Rows members={members} onRemoved={setEnded} />}</Loaded>
      </Box>
      {isAdmin && <Invitations />}
      <Suspense>{isAdmin && begin && <InviteDialog onClose={() => navigate({ search: {} })} />}</Suspense>
    </Page>
  )
}

function Rows({ members, onRemoved }: { members: Member[]; onRemoved: (ended: Ended) => void }) {
  const { me } = Route.useRouteContext()
  const [asking, setAsking] = useState<Asking | null>(null)
  const holders = members.flatMap(({ userId, publicKeyJwk }) =>
    publicKeyJwk === null ? [] : [{ principalId: userId, publicKeyJwk }],
  )
  const { data, error } = useQuery(checkedQuery(holders))
  const checkedOf = new Map(holders.map(({ principalId }, i) => [principalId, data?.[i]]))
  const close = () => setAsking(null)
  return (
    <>
      <ProblemAlert error={error} />
      <div className="rows">
        <Table layout="fixed" miw={760}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="30%">Member</Table.Th>
              <Table.Th w={100}>Role</Table.Th>
              <Table.Th>Key</Table.Th>
              <Table.Th w={64} aria-label="Actions" />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.map((member) => (
              <Row
                key={member.userId}
                member={member}
                isSelf={member.userId === me.user?.id}
                checked={checkedOf.get(member.userId)}
                onAsk={(kind) => setAsking({ kind, member, checked: checkedOf.get(member.userId) })}
              />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <Suspense>{asking && <MemberDialog asking={asking} onClose={close} onRemoved={onRemoved} />}</Suspense>
    </>
  )
}

function Row(props: {
  member: Member
  isSelf: boolean
  checked: Checked | undefined
  onAsk: (kind: Asking['kind']) => void
}) {
  const { member, isSelf, checked, onAsk } = props
  const { org } = Route.useRouteContext()
  const isAdmin = org.role !== 'member' && (member.role !== 'owner' || org.role === 'owner')
  const name = nameOfMember(member)
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} truncate title={name}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" truncate title={member.email ?? member.userId}>
          {isSelf && 'you · '}
          {member.email ?? member.userId}
        </Text>
      </Table.Td>
      <Table.Td>{member.role}</Table.Td>
      <Table.Td>
        <KeyState member={member} isSelf={isSelf} checked={checked} />
      </Table.Td>
      <Table.Td ta="right">
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`What can be done with ${name}`}>
              <IconEllipsis size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {!isSelf && (
              <Menu.Item onClick={() => onAsk('compare')} disabled={!checked}>
                Compare the key…
              </Menu.Item>
            )}
            {isAdmin && <Menu.Item onClick={() => onAsk('role')}>Change the role…</Menu.Item>}
            {isSelf ? (
              <Menu.Item color="red" onClick={() => onAsk('leave')}>
                Leave {org.name}…
              </Menu.Item>
            ) : (
              isAdmin && (
                <Menu.Item color="red" onClick={() => onAsk('remove')}>
                  Remove…
                </Menu.Item>
              )
            )}
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
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
      <Standing checked={checked} isSelf={isSelf} />
    </>
  )
}
