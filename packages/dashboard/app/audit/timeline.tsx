import { Group, Text, VisuallyHidden } from '@mantine/core'
import { type AuditGroup, auditGroups } from '@skerry/contract/action'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouteContext } from '@tanstack/react-router'
import { RelativeTime } from '../ui/relative-time.tsx'
import type { AuditFilter } from './queries.ts'
import { type TimelineAnswer as Answer, timelineQuery } from './timeline-query.ts'
import './timeline.css'

type Span = Answer['spans'][number]
type Step = Answer['step']

const formats = {
  day: new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }),
  hour: new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
}
const number = new Intl.NumberFormat('en')

/** The number of entries over time, by group of actions. Each bar links to the entries of its time. */
export function Timeline({ filter }: { filter: AuditFilter }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data } = useQuery(timelineQuery(org.id, filter))
  const totals = data?.spans.map(totalOf) ?? []
  const most = Math.max(0, ...totals)
  const [first, last] = [data?.spans[0], data?.spans.at(-1)]
  // Without entries this shows no chart: the list below shows the empty state or the error.
  if (!data || !first || !last || most === 0) return <div className="timeline" />
  return (
    <figure className="timeline" aria-label={`Entries in each ${data.step}`}>
      <div className="timeline-bars">
        {data.spans.map((span, at) => (
          <Bar key={span.since} span={span} step={data.step} share={(totals[at] ?? 0) / most} filter={filter} />
        ))}
      </div>
      <Group justify="space-between" gap="xs">
        <Edge text={formats[data.step].format(new Date(first.since))} />
        <Edge text={`${formats[data.step].format(new Date(last.since))} (UTC)`} />
      </Group>
      <Legend spans={data.spans} />
      {data.countedUntil && (
        <Text size="xs" c="dimmed">
          Counted back to <RelativeTime at={data.countedUntil} />. Choose an earlier end date to see older entries.
        </Text>
      )}
      <AsTable timeline={data} />
    </figure>
  )
}

const totalOf = ({ counts }: Span) => Object.values(counts).reduce((sum, count) => sum + count, 0)
const groupsOf = ({ counts }: Span) => auditGroups.filter((group) => counts[group] > 0)

function Bar({ span, step, share, filter }: { span: Span; step: Step; share: number; filter: AuditFilter }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  if (share === 0) return <span />
  const said = groupsOf(span).map((group) => `${group} ${number.format(span.counts[group])}`)
  const label = `${formats[step].format(new Date(span.since))}: ${said.join(', ')}`
  return (
    <Link
      to="/orgs/$org/audit"
      params={{ org: org.slug }}
      search={{ ...filter, since: span.since, until: span.until }}
      className="timeline-bar"
      aria-label={label}
      title={label}
    >
      <span className="timeline-stack" style={{ height: `${share * 100}%` }}>
        {groupsOf(span).map((group) => (
          <span key={group} data-group={group} style={{ flexGrow: span.counts[group] }} />
        ))}
      </span>
    </Link>
  )
}

function Edge({ text }: { text: string }) {
  return (
    <Text size="xs" c="dimmed">
      {text}
    </Text>
  )
}

function Legend({ spans }: { spans: Span[] }) {
  const sumOf = (group: AuditGroup) => spans.reduce((sum, { counts }) => sum + counts[group], 0)
  return (
    <Group gap="md" mt={4}>
      {auditGroups
        .filter((group) => sumOf(group) > 0)
        .map((group) => (
          <Group key={group} gap={6} wrap="nowrap">
            <span className="timeline-key" data-group={group} />
            <Text size="xs">
              {group} {number.format(sumOf(group))}
            </Text>
          </Group>
        ))}
    </Group>
  )
}

/** The same numbers as a table, for people who cannot see the bars. */
function AsTable({ timeline: { step, spans } }: { timeline: Answer }) {
  return (
    <VisuallyHidden>
      <table>
        <caption>Entries in each {step}</caption>
        <thead>
          <tr>
            <th scope="col">{step}</th>
            {auditGroups.map((group) => (
              <th key={group} scope="col">
                {group}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spans.map((span) => (
            <tr key={span.since}>
              <th scope="row">{formats[step].format(new Date(span.since))}</th>
              {auditGroups.map((group) => (
                <td key={group}>{number.format(span.counts[group])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </VisuallyHidden>
  )
}
