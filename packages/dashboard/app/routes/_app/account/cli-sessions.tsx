import { Badge } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { cliSessions } from '@skerry/contract/me/cli-sessions'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { AccountPage } from '../../../account/account-page.tsx'
import { api } from '../../../api.ts'
import { TwoLines } from '../../../ui/cells.tsx'
import { Empty } from '../../../ui/empty.tsx'
import { List, type ListColumn } from '../../../ui/list.tsx'
import { RelativeTime, timeColumn } from '../../../ui/relative-time.tsx'
import { useConfirm } from '../../../ui/use-confirm.tsx'

const cliSessionsQuery = queryOptions({
  queryKey: ['me', 'cli-sessions'],
  queryFn: ({ signal }) => api.cliSessions.list({}, { signal }),
})

export const Route = createFileRoute('/_app/account/cli-sessions')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(cliSessionsQuery),
  component: CliSessions,
})

type Session = Answer<typeof cliSessions.list>['sessions'][number]

const columns: ListColumn<Session>[] = [
  {
    header: 'Device',
    cell: ({ deviceLabel, client }) => <TwoLines main={deviceLabel} below={client} />,
    sort: ({ deviceLabel }) => deviceLabel,
    width: '32%',
  },
  { header: 'Requested from', cell: ({ ipAddress }) => <span className="mono">{ipAddress ?? 'unknown'}</span> },
  timeColumn('Last used', 'lastUsedAt', 115),
  {
    header: 'Expires',
    cell: (session) => <Expiry session={session} />,
    sort: ({ expiresAt }) => expiresAt,
    width: 115,
  },
]

function CliSessions() {
  const query = useQuery(cliSessionsQuery)
  const revoking = useConfirm(({ id, deviceLabel }: Session) => ({
    title: 'Revoke this session?',
    text: (
      <>
        {deviceLabel} is signed out with its next request. It can ask again with <code>skerry login</code>.
      </>
    ),
    confirm: 'Revoke',
    onConfirm: () => api.cliSessions.revoke({ params: { cliSessionId: id } }),
    stale: [cliSessionsQuery],
  }))
  return (
    <AccountPage part="CLI sessions">
      <List
        label="CLI sessions"
        query={query}
        rows={({ sessions }) => sessions}
        columns={columns}
        minWidth={640}
        rowId={({ id }) => id}
        rowName={({ deviceLabel }) => deviceLabel}
        action={(session) =>
          endOf(session) ? null : { label: 'Revoke', danger: true, onClick: () => revoking.open(session) }
        }
        empty={
          <Empty title="No terminal is signed in" command="skerry login">
            Run this in a terminal. It shows a code, and you approve it here.
          </Empty>
        }
      />
      {revoking.dialog}
    </AccountPage>
  )
}

/** Returns why a session no longer works, or null while it works. */
function endOf({ revokedAt, expiresAt }: Session): 'revoked' | 'expired' | null {
  if (revokedAt !== null) return 'revoked'
  return Date.parse(expiresAt) < Date.now() ? 'expired' : null
}

function Expiry({ session }: { session: Session }) {
  const end = endOf(session)
  return end ? (
    <Badge color="gray" variant="light">
      {end}
    </Badge>
  ) : (
    <RelativeTime at={session.expiresAt} />
  )
}
