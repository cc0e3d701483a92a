import { Button, Table, Text } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { invites as endpoints } from '@skerry/contract/orgs'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { outdated } from '../queries.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { invitesQuery } from './queries.ts'

type Invite = Answer<typeof endpoints.list>['invites'][number]

/** People who may come in with their next sign-in. */
export function Invitations() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(invitesQuery(org.id))
  return (
    <Section
      title="Invitations"
      description="Whoever signs in with the address joins. Keys are granted afterwards, for they have to make theirs first."
    >
      <Loaded query={query}>
        {({ invites }) =>
          invites.length === 0 ? (
            <Empty title="No one is invited" command={`skerry invite create name@example.com --org ${org.slug}`}>
              Invite people by e-mail address, above or from a terminal.
            </Empty>
          ) : (
            <Rows invites={invites} />
          )
        }
      </Loaded>
    </Section>
  )
}

function Rows({ invites }: { invites: Invite[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const [revoking, setRevoking] = useState<Invite | null>(null)
  return (
    <div className="rows">
      <Table layout="fixed" miw={640}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Address</Table.Th>
            <Table.Th w={100}>Role</Table.Th>
            <Table.Th>Invited by</Table.Th>
            <Table.Th w={130}>Expires</Table.Th>
            <Table.Th w={110} aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invites.map((invite) => (
            <Table.Tr key={invite.id}>
              <Table.Td>
                <Text size="sm" fw={500} truncate title={invite.email}>
                  {invite.email}
                </Text>
              </Table.Td>
              <Table.Td>{invite.role}</Table.Td>
              <Table.Td>
                <Text size="sm" truncate title={nameOf(invite.invitedById)}>
                  {nameOf(invite.invitedById)}
                </Text>
              </Table.Td>
              <Table.Td>
                <RelativeTime at={invite.expiresAt} />
              </Table.Td>
              <Table.Td ta="right">
                <Button variant="subtle" color="red" size="xs" onClick={() => setRevoking(invite)}>
                  Revoke
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <ConfirmDelete
        title="Revoke this invitation?"
        confirm="Revoke"
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        onConfirm={async () => {
          await api.invites.delete({ params: { orgId: org.id, inviteId: revoking?.id ?? '' } })
          await outdated(invitesQuery(org.id))
        }}
      >
        {revoking?.email} can no longer join with it.
      </ConfirmDelete>
    </div>
  )
}
