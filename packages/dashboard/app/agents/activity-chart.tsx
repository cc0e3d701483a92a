import { Box, Group, Paper, Stack, Text } from '@mantine/core'
import type { AgentActivity } from './queries.ts'

type Timeline = AgentActivity['timeline']

const hourMs = 3_600_000
const height = 26
const gap = 0.15
const hourlyDaysMax = 2

/** The time axis of the chart, which ends now. A step is an hour or a day (UTC). */
function scaleOf(timeline: Timeline, days: number) {
  const isHourly = days <= hourlyDaysMax
  const stepMs = isHourly ? hourMs : 24 * hourMs
  const last = Math.max(Date.now(), ...timeline.map(({ startsAt }) => Date.parse(startsAt)))
  // A period starts within an hour or day, so it covers a part of one more step.
  const steps = (isHourly ? days * 24 : days) + 1
  const first = (Math.floor(last / stepMs) - steps + 1) * stepMs
  const format: Intl.DateTimeFormatOptions = isHourly
    ? { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }
    : { day: 'numeric', month: 'short', timeZone: 'UTC' }
  const text = new Intl.DateTimeFormat('en-GB', format)
  return {
    steps,
    stepOf: (startsAt: string) => Math.floor((Date.parse(startsAt) - first) / stepMs),
    textOf: (step: number) => text.format(first + step * stepMs),
    unit: isHourly ? 'hour' : 'day',
  }
}
type Scale = ReturnType<typeof scaleOf>

/**
 * Shows when the busiest hosts were called, with a line of bars for each decision. The list below has the sums as text.
 */
export function ActivityChart({ timeline, days }: { timeline: Timeline; days: number }) {
  const scale = scaleOf(timeline, days)
  const most = Math.max(1, ...timeline.map(({ count }) => count))
  const hosts = [...Map.groupBy(timeline, ({ host }) => host)]
  return (
    <Paper p="md" mb="sm" component="figure" m={0} aria-label={`Requests by the ${scale.unit}`}>
      <Stack gap="md">
        {hosts.map(([host, ofHost]) => (
          <Stack key={host} gap={4}>
            <Text size="sm" fw={500} truncate title={host}>
              {host}
            </Text>
            {[...Map.groupBy(ofHost, ({ decision }) => decision)].map(([decision, cells]) => (
              <Line key={decision} name={`${host}, ${wordsOf(decision)}`} cells={cells} most={most} scale={scale} />
            ))}
          </Stack>
        ))}
        <Group justify="space-between" className="activity-axis">
          {[0, scale.steps - 1].map((step) => (
            <Text key={step} size="xs" c="dimmed">
              {scale.textOf(step)}
            </Text>
          ))}
        </Group>
      </Stack>
    </Paper>
  )
}

const wordsOf = (decision: string) => decision.replaceAll('_', ' ')

interface LineProps {
  name: string
  cells: Timeline
  /** The highest count in the whole chart. All lines use it as their scale, so that they can be compared. */
  most: number
  scale: Scale
}

function Line({ name, cells, most, scale }: LineProps) {
  const [{ decision }] = cells as [Timeline[number]]
  const sum = cells.reduce((all, { count }) => all + count, 0)
  const high = cells.reduce((one, other) => (other.count > one.count ? other : one))
  const said = `${name}: ${sum} requests, at most ${high.count} in a ${scale.unit}, on ${scale.textOf(scale.stepOf(high.startsAt))}`
  return (
    <Box className="activity-line">
      <Text size="xs" c="dimmed" truncate>
        {wordsOf(decision)} · {sum}
      </Text>
      <svg
        role="img"
        aria-label={said}
        width="100%"
        height={height}
        viewBox={`0 0 ${scale.steps} ${height}`}
        preserveAspectRatio="none"
      >
        <rect y={height - 1} width={scale.steps} height={1} fill="var(--mantine-color-default-border)" />
        {cells.map(({ startsAt, count }) => (
          <Bar key={startsAt} step={scale.stepOf(startsAt)} share={count / most} isAllowed={decision === 'allow'}>
            {`${scale.textOf(scale.stepOf(startsAt))}: ${count}`}
          </Bar>
        ))}
      </svg>
    </Box>
  )
}

/** A bar is at least 3 units high, so that a single request is visible. */
function Bar(props: { step: number; share: number; isAllowed: boolean; children: string }) {
  const { step, share, isAllowed, children } = props
  const size = Math.max(3, share * height)
  return (
    <rect
      x={step + gap}
      y={height - size}
      width={1 - 2 * gap}
      height={size}
      fill={`var(--mantine-color-${isAllowed ? 'sea' : 'red'}-filled)`}
    >
      <title>{children}</title>
    </rect>
  )
}
