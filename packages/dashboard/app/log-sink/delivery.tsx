import { Alert, Badge, Button, Group, Paper, Table } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import type { LogSinkDialogKind } from './dialogs.tsx'
import { type LogSink, logSinkQuery } from './queries.ts'

/** Shows the collector, whether delivery is enabled, and how far it has come. */
export function Delivery({ sink, onOpen }: { sink: LogSink; onOpen: (kind: LogSinkDialogKind) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { endpoint, enabled } = sink
  const turn = useAction(() => api.logSink.set({ params: { orgId: org.id }, body: { endpoint, enabled: !enabled } }), {
    stale: [logSinkQuery(org.id)],
  })
  return (
    <Section
      title="Delivery"
      description="Skerry sends new entries every minute, in order. It sends an entry again until the collector accepts it."
      actions={
        <>
          <Button variant="default" loading={turn.pending} onClick={() => turn.run()}>
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button variant="default" disabled={turn.pending} onClick={() => onOpen('set')}>
            Change…
          </Button>
        </>
      }
    >
      <ProblemAlert error={turn.error} />
      <WhyDisabled sink={sink} />
      <Paper p="md">
        <Table withRowBorders={false} verticalSpacing={4} highlightOnHover={false} layout="fixed" aria-label="Delivery">
          <Table.Tbody>
            {factsOf(sink).map(([label, value]) => (
              <Table.Tr key={label}>
                <Table.Th w={120} scope="row">
                  {label}
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
    </Section>
  )
}

/**
 * Says why the sink is disabled. If a collector refuses, the server disables the sink and keeps the error until the
 * sink is set again.
 */
function WhyDisabled({ sink: { enabled, lastError } }: { sink: LogSink }) {
  if (enabled) return null
  if (lastError === null)
    return (
      <Alert color="gray" variant="light" mb="sm" title="An admin has disabled it">
        New entries wait until you enable it again.
      </Alert>
    )
  return (
    <Alert color="red" variant="light" mb="sm" role="alert" title={`The collector refused: it ${lastError}`}>
      Sending has stopped, because the collector would refuse the same entries again. Change the address or the headers,
      or repair the collector and choose Enable. The waiting entries are sent then.
    </Alert>
  )
}

const number = new Intl.NumberFormat('en')

function factsOf(sink: LogSink): [string, ReactNode][] {
  const { endpoint, headerNames, position, waitingEntries, rejectedRecords, lastAttemptAt, lastSuccessAt } = sink
  return [
    ['State', <State key="state" sink={sink} />],
    ['Address', <Mono key="address">{endpoint}</Mono>],
    ['Headers', headerNames.length === 0 ? 'none' : <HeaderNames key="headers" names={headerNames} />],
    ['Position', `${number.format(position)} of ${number.format(position + waitingEntries)} sealed entries`],
    ['Waiting', number.format(waitingEntries)],
    ['Last attempt', <RelativeTime key="attempt" at={lastAttemptAt} />],
    ['Last success', <RelativeTime key="success" at={lastSuccessAt} />],
    ['Last error', sink.lastError ?? 'none'],
    ['Rejected', number.format(rejectedRecords)],
  ]
}

function State({ sink: { enabled, lastError } }: { sink: LogSink }) {
  const isFailing = lastError !== null
  return (
    <Badge color={isFailing ? 'red' : enabled ? 'sea' : 'gray'} variant="light">
      {enabled ? (isFailing ? 'failing' : 'enabled') : 'disabled'}
    </Badge>
  )
}

const Mono = ({ children }: { children: string }) => <span className="mono">{children}</span>

/** Shows the names of the headers. Their values are never shown again. */
const HeaderNames = ({ names }: { names: string[] }) => (
  <Group gap="xs">
    {names.map((name) => (
      <Badge key={name} variant="default" tt="none" className="mono">
        {name}
      </Badge>
    ))}
  </Group>
)
