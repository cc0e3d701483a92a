import { Badge, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { AnchorLink } from '../ui/links.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { nameOfLeaver, offboardingsQuery, progressOf } from './queries.ts'

/** Lists the offboardings, the running ones first. Shows nothing if nobody has left. */
export function Offboardings() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data, error } = useQuery(offboardingsQuery(org.id))
  if (error) return <ProblemAlert error={error} />
  const all = data?.offboardings ?? []
  if (all.length === 0) return null
  const isRunning = ({ finishedAt }: { finishedAt: string | null }) => finishedAt === null
  const sorted = [...all.filter(isRunning), ...all.filter((one) => !isRunning(one)).reverse()]
  return (
    <Section title="Offboarding">
      <Stack gap={6}>
        {sorted.map((one) => (
          <Group key={one.id} gap="xs">
            <AnchorLink
              to="/orgs/$org/offboardings/$offboarding"
              params={{ org: org.slug, offboarding: one.id }}
              size="sm"
            >
              {nameOfLeaver(one)}
            </AnchorLink>
            <Badge color={isRunning(one) ? 'yellow' : 'gray'} variant="light">
              {isRunning(one) ? `${progressOf(one)} done` : 'finished'}
            </Badge>
            <Text size="xs" c="dimmed">
              <RelativeTime at={one.finishedAt ?? one.startedAt} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}
