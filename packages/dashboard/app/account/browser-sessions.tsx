import { Badge, Button, Group, Table, Text } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { sessions } from '@skerry/contract/sign-in'
import { useQuery } from '@tanstack/react-query'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { outdated } from '../queries.ts'
import { session } from '../session.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { sessionsQuery } from './queries.ts'

type WebSession = Answer<typeof sessions.list>['sessions'][number]

export function BrowserSessions() {
  const query = useQuery(sessionsQuery)
  const end = useAction(async (webSessionId: string, current: boolean) => {
    if (current) return session.signOut()
    await api.sessions.end({ params: { webSessionId } })
    await outdated(sessionsQuery)
  })
  return (
    <Section title="Browsers" description="Where you are signed in. Ending a session there signs that browser out.">
      <Loaded query={query}>
        {({ sessions, currentSessionId }) => (
          <div className="rows">
            <Table>
              <Table.Tbody>
                {sessions.map((one) => (
                  <Row
                    key={one.id}
                    session={one}
                    current={one.id === currentSessionId}
                    onEnd={(current) => end.run(one.id, current)}
                  />
                ))}
              </Table.Tbody>
            </Table>
          </div>
        )}
      </Loaded>
      <ProblemAlert error={end.error} />
    </Section>
  )
}

function Row(props: { session: WebSession; current: boolean; onEnd: (current: boolean) => void }) {
  const { session, current, onEnd } = props
  const browser = browserOf(session.userAgent)
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {browser}
          </Text>
          {current && (
            <Badge variant="light" size="sm">
              this one
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed" className="mono">
          {session.ipAddress}
        </Text>
      </Table.Td>
      <Table.Td c="dimmed">
        used <RelativeTime at={session.lastUsedAt} />
      </Table.Td>
      <Table.Td ta="right">
        <Button
          variant="subtle"
          color="red"
          size="xs"
          aria-label={current ? 'Sign out here' : `End the session of ${browser}`}
          onClick={() => onEnd(current)}
        >
          {current ? 'Sign out' : 'End'}
        </Button>
      </Table.Td>
    </Table.Tr>
  )
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

/** `Firefox on Linux`, as far as a browser says. */
function browserOf(userAgent: string | null): string {
  const named = (table: readonly (readonly [string, string])[]) =>
    table.find(([mark]) => userAgent?.includes(mark))?.[1]
  return [named(programs) ?? 'A browser', named(systems)].filter(Boolean).join(' on ')
}
