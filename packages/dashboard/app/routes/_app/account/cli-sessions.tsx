import { Badge, Button, Table, Text } from '@mantine/core'
import type { cliSessions } from '@skerry/contract/cli-sessions'
import type { Answer } from '@skerry/contract/endpoint'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api.ts'
import { outdated } from '../../../queries.ts'
import { ConfirmDelete } from '../../../ui/confirm-delete.tsx'
import { Empty } from '../../../ui/empty.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { Page } from '../../../ui/page.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'

const cliSessionsQuery = queryOptions({
  queryKey: ['me', 'cli-sessions'],
  queryFn: ({ signal }) => api.cliSessions.list({}, { signal }),
})

export const Route = createFileRoute('/_app/account/cli-sessions')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(cliSessionsQuery),
  component: CliSessions,
})

type Session = Answer<typeof cliSessions.list>['sessions'][number]

function CliSessions() {
  const query = useQuery(cliSessionsQuery)
  return (
    <Page title="CLI sessions" description="Terminals that act for you, until they are revoked or expire.">
      <Loaded query={query}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <Empty title="No terminal is signed in" command="skerry login">
              Run this in a terminal. It shows a code, and you approve it here.
            </Empty>
          ) : (
            <Sessions sessions={sessions} />
          )
        }
      </Loaded>
    </Page>
  )
}

function Sessions({ sessions }: { sessions: Session[] }) {
  const [ending, setEnding] = useState<Session | null>(null)
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Device</Table.Th>
            <Table.Th>Asked for from</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <Row key={session.id} session={session} onRevoke={() => setEnding(session)} />
          ))}
        </Table.Tbody>
      </Table>
      <ConfirmDelete
        title="Revoke this session?"
        confirm="Revoke"
        opened={ending !== null}
        onClose={() => setEnding(null)}
        onConfirm={async () => {
          await api.cliSessions.revoke({ params: { cliSessionId: ending?.id ?? '' } })
          await outdated(cliSessionsQuery)
        }}
      >
        {ending?.deviceLabel} is signed out with its next request. It can ask again with <code>skerry login</code>.
      </ConfirmDelete>
    </div>
  )
}

function Row({ session, onRevoke }: { session: Session; onRevoke: () => void }) {
  const over = session.revokedAt !== null ? 'revoked' : Date.parse(session.expiresAt) < Date.now() ? 'expired' : null
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {session.deviceLabel}
        </Text>
        <Text size="xs" c="dimmed">
          {session.client}
        </Text>
      </Table.Td>
      <Table.Td className="mono">{session.ipAddress ?? 'unknown'}</Table.Td>
      <Table.Td>
        <RelativeTime at={session.lastUsedAt} />
      </Table.Td>
      <Table.Td>{over ? <Badge color="gray">{over}</Badge> : <RelativeTime at={session.expiresAt} />}</Table.Td>
      <Table.Td ta="right">
        {!over && (
          <Button variant="subtle" color="red" size="xs" onClick={onRevoke}>
            Revoke
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
