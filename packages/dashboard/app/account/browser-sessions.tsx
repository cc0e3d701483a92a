import { Badge, Group } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { sessions } from '@skerry/contract/sessions/endpoints'
import { useQuery } from '@tanstack/react-query'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { session } from '../session.ts'
import { TwoLines } from '../ui/cells.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { sessionsQuery } from './queries.ts'

type WebSession = Answer<typeof sessions.list>['sessions'][number]

export function BrowserSessions() {
  const query = useQuery(sessionsQuery)
  const end = useAction((webSessionId: string) => api.sessions.end({ params: { webSessionId } }), {
    stale: [sessionsQuery],
  })
  const signOut = useAction(session.signOut)
  const currentId = query.data?.currentSessionId
  const isCurrent = ({ id }: WebSession) => id === currentId
  const columns: ListColumn<WebSession>[] = [
    { header: 'Browser', cell: (one) => <Browser session={one} isCurrent={isCurrent(one)} /> },
    timeColumn('Last used', 'lastUsedAt', 150),
  ]
  return (
    <Section
      title="Browsers"
      description="The browsers in which you are signed in. If you end a session, that browser is signed out."
    >
      <List
        label="Browser sessions"
        query={query}
        rows={({ sessions }) => sessions}
        columns={columns}
        rowId={({ id }) => id}
        rowName={(one) => (isCurrent(one) ? 'here' : `the session of ${browserOf(one.userAgent)}`)}
        action={(one) => ({
          label: isCurrent(one) ? 'Sign out' : 'End',
          danger: true,
          disabled: end.pending || signOut.pending,
          onClick: () => (isCurrent(one) ? signOut.run() : end.run(one.id)),
        })}
        empty={null}
      />
      <ProblemAlert error={end.error ?? signOut.error} />
    </Section>
  )
}

function Browser({ session, isCurrent }: { session: WebSession; isCurrent: boolean }) {
  const browser = browserOf(session.userAgent)
  const main = (
    <Group gap="xs">
      {browser}
      {isCurrent && (
        <Badge variant="light" size="sm">
          this one
        </Badge>
      )}
    </Group>
  )
  return <TwoLines main={main} title={browser} below={<span className="mono">{session.ipAddress}</span>} />
}

const programs = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** Returns the browser's name, such as `Firefox on Linux`, as far as the user agent tells it. */
function browserOf(userAgent: string | null): string {
  const named = (table: readonly (readonly [string, string])[]) =>
    table.find(([token]) => userAgent?.includes(token))?.[1]
  return [named(programs) ?? 'A browser', named(systems)].filter(Boolean).join(' on ')
}
