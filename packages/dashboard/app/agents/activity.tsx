import { Badge, Button, Group, Progress, Select, Stack, Text } from '@mantine/core'
import { narrowPolicy } from '@skerry/sdk/internal/policy-narrowing'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { ActivityChart } from './activity-chart.tsx'
import { PolicyEditor } from './lazy.ts'
import { type Agent, type AgentActivity, type AgentRule, activityQuery, policiesQuery } from './queries.ts'

type Cell = AgentActivity['activity'][number]

const periods = [
  { value: '1', label: 'Last day' },
  { value: '14', label: 'Last 14 days' },
  { value: '90', label: 'Last 90 days' },
]

/** The requests that proxies counted, by host and decision, and the permissions that no request used. */
export function Activity({ agent }: { agent: Agent }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [days, setDays] = useState('14')
  const query = useQuery(activityQuery(org.id, agent.id, Number(days)))
  const period = (
    <Select
      aria-label="Period"
      data={periods}
      value={days}
      allowDeselect={false}
      onChange={(value) => setDays(value ?? '14')}
      w={150}
    />
  )
  return (
    <Section title="Activity" description="Proxies report counts, never addresses or values." actions={period}>
      {query.data && <Summary agent={agent} evidence={query.data} />}
      {query.data && query.data.timeline.length > 0 && (
        <ActivityChart timeline={query.data.timeline} days={query.data.summary.days} />
      )}
      <List
        label="Activity"
        query={query}
        rows={({ activity }) => activity}
        columns={columnsOf(query.data?.activity ?? [])}
        minWidth={860}
        rowId={({ host, method, decision, ruleIndex, policyVersion }) =>
          [host, method, decision, ruleIndex, policyVersion].join(' ')
        }
        rowName={({ host, method, decision }) => `${method} ${host}: ${decision}`}
        empty={
          <Empty title="Nothing was reported">
            A proxy reports every minute in which it allowed or refused a request.
          </Empty>
        }
      />
    </Section>
  )
}

function Summary({ agent, evidence }: { agent: Agent; evidence: AgentActivity }) {
  const { total, allowed, refused, redacted } = evidence.summary
  return (
    <Stack gap={6} mb="sm">
      <Text size="sm">
        {total} requests: {allowed} allowed, {refused} refused.
        {redacted > 0 && ` Upstreams sent secrets back ${redacted} times; the proxy replaced them.`}
      </Text>
      <Unused agent={agent} evidence={evidence} />
    </Stack>
  )
}

/**
 * The unused permissions. The narrower policy is built in the browser and signed by the person; the server proposes
 * none.
 */
function Unused({ agent, evidence }: { agent: Agent; evidence: AgentActivity }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: policies } = useQuery(policiesQuery(org.id, agent.id))
  const proposing = useDialog<AgentRule[]>()
  const rules = policies?.[0]?.rules ?? []
  const { unusedRules, unusedSecrets } = evidence.summary
  const unused = [...unusedRules.map((at) => `rule ${at}: ${rules[at]?.host ?? ''}`), ...unusedSecrets]
  if (unused.length === 0) return null
  return (
    <Group gap={6}>
      <Text size="sm" c="dimmed">
        Permitted but not used:
      </Text>
      {unused.map((one) => (
        <Badge key={one} color="yellow" variant="light" tt="none">
          {one}
        </Badge>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={() => proposing.open(narrowPolicy(rules, evidence))}>
        Propose a policy without them
      </Button>
      <Suspense>
        {proposing.show((onClose, proposed) => (
          <PolicyEditor agent={agent} rules={proposed} onClose={onClose} />
        ))}
      </Suspense>
    </Group>
  )
}

function columnsOf(all: Cell[]): ListColumn<Cell>[] {
  const most = Math.max(1, ...all.map(({ count }) => count))
  return [
    {
      header: 'Host',
      cell: ({ host, method }) => <TwoLines main={host} below={method} />,
      sort: ({ host }) => host,
    },
    {
      header: 'Decision',
      cell: ({ decision, ruleIndex }) => (
        <TwoLines main={decision.replaceAll('_', ' ')} below={ruleIndex === null ? 'no rule' : `rule ${ruleIndex}`} />
      ),
      sort: ({ decision }) => decision,
      width: 170,
    },
    {
      header: 'Requests',
      cell: ({ count, decision }) => (
        <Stack gap={4}>
          <Text size="sm">{count}</Text>
          <Progress
            value={(100 * count) / most}
            color={decision === 'allow' ? 'sea' : 'red'}
            aria-label={`${count} of at most ${most}`}
          />
        </Stack>
      ),
      sort: ({ count }) => count,
      width: 160,
    },
    { header: 'Secrets', cell: ({ secrets }) => <OneLine text={Object.keys(secrets).join(', ')} /> },
    { header: 'Sent back', cell: ({ redactions }) => <OneLine text={Object.keys(redactions).join(', ')} /> },
    timeColumn('Last', 'lastAt', 120),
  ]
}
