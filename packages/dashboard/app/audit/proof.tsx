import { Group, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { Copy } from '../ui/copy.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'

const checkpointQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'audit', 'checkpoint'],
    queryFn: ({ signal }) => api.auditProof.checkpoint({ params: { orgId } }, { signal }),
  })

const number = new Intl.NumberFormat('en')

/** Shows the server's signed checkpoint of the audit log, to copy elsewhere, and the command that verifies the log. */
export function Proof() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data, error } = useQuery(checkpointQuery(org.id))
  return (
    <Group gap="xs" mih={32} mb="sm" role="group" aria-label="Proof that nothing was changed">
      {error && (
        <Text size="xs" c="dimmed">
          No checkpoint: {error.message}.
        </Text>
      )}
      {data && (
        <>
          <Group gap={2}>
            <Text size="xs" c="dimmed">
              {data.size === 1 ? 'One entry is' : `${number.format(data.size)} entries are`} sealed; checkpoint of{' '}
              <RelativeTime at={data.signedAt} />
            </Text>
            <Copy text={data.checkpoint} label="Copy the checkpoint" />
          </Group>
          <CommandLine command={`skerry audit verify --org ${org.slug}`} />
        </>
      )}
    </Group>
  )
}
