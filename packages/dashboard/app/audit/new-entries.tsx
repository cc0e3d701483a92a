import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { orgQueries, queryClient } from '../queries.ts'
import { type AuditFilter, auditQuery, newEntriesQuery, pageSize, type Shown } from './queries.ts'

/**
 * Says how many matching entries were added since the list was loaded, and shows them on request. The list does not reload by
 * itself, because its rows would move while somebody reads them.
 */
export function NewEntries({ filter, shown }: { filter: AuditFilter; shown: Shown }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const count = useQuery(newEntriesQuery(org.id, filter, shown)).data?.length ?? 0
  const show = useAction(
    // The first page has the newest entries. Further pages would be loaded again one after the other.
    async () =>
      queryClient.setQueryData(auditQuery(org.id, filter).queryKey, (data) => ({
        pages: data?.pages.slice(0, 1) ?? [],
        pageParams: data?.pageParams.slice(0, 1) ?? [],
      })),
    { stale: [orgQueries(org.id, 'audit')] },
  )
  return (
    <div role="status">
      {count > 0 && (
        <Alert variant="light" color="gray" mb="sm" p="xs">
          <Group justify="space-between" gap="xs">
            <Text size="sm">{textOf(count)}</Text>
            <Button size="xs" variant="default" loading={show.pending} onClick={() => show.run()}>
              Show
            </Button>
          </Group>
        </Alert>
      )}
    </div>
  )
}

const textOf = (count: number): string =>
  count === 1 ? '1 new entry' : `${count}${count === pageSize ? ' or more' : ''} new entries`
