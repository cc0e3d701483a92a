import { Button, Center, Menu, Table, Text } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { EntryRow, type Names } from '../../../audit/entry.tsx'
import { csvOf, download, jsonOf } from '../../../audit/export.ts'
import { auditQuery, type Entry, filterOf } from '../../../audit/queries.ts'
import { placesQuery } from '../../../people/places.ts'
import { useNameOf } from '../../../secrets/use-name-of.ts'
import { Empty } from '../../../ui/empty.tsx'
import { ForAdmins } from '../../../ui/for-admins.tsx'
import { IconDownload } from '../../../ui/icons.ts'
import { Loaded } from '../../../ui/loaded.tsx'
import { Page } from '../../../ui/page.tsx'

// Fetched by itself: the list is there sooner.
const Filters = lazy(async () => ({ default: (await import('../../../audit/filters.tsx')).Filters }))

export const Route = createFileRoute('/_app/orgs/$org/audit')({
  validateSearch: filterOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient, org }, deps }) => {
    if (org.role !== 'member') void queryClient.prefetchInfiniteQuery(auditQuery(org.id, deps))
  },
  component: AuditLog,
})

function AuditLog() {
  const { org } = Route.useRouteContext()
  const filter = Route.useSearch()
  const navigate = Route.useNavigate()
  const query = useInfiniteQuery({ ...auditQuery(org.id, filter), enabled: org.role !== 'member' })
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? []
  const isFiltered = Object.keys(filter).length > 0
  return (
    <Page
      title="Audit log"
      description="Who did what, newest first. Values are in none of it: the server never has them."
      actions={entries.length > 0 && <Export entries={entries} />}
    >
      <ForAdmins>
        <Suspense fallback={<div style={{ height: 71 }} />}>
          <Filters filter={filter} onChange={(search) => navigate({ search, replace: true })} />
        </Suspense>
        <Loaded query={query}>
          {() =>
            entries.length === 0 ? (
              <Empty title={isFiltered ? 'Nothing of that kind' : 'Nothing yet'} command={commandOf(org.slug, filter)}>
                {isFiltered ? 'Widen the filter above.' : 'Whatever changes in this organization is written down here.'}
              </Empty>
            ) : (
              <Entries entries={entries} />
            )
          }
        </Loaded>
        <More query={query} shown={entries.length} />
      </ForAdmins>
    </Page>
  )
}

function commandOf(slug: string, { action }: { action?: string }): string {
  return `skerry audit ${action === undefined ? '' : `--action ${action} `}--org ${slug}`
}

function Entries({ entries }: { entries: Entry[] }) {
  const { org } = Route.useRouteContext()
  const nameOf = useNameOf(org.id)
  const { data: places } = useQuery(placesQuery(org.id))
  const labels = new Map([...(places ?? []).map(({ id, label }) => [id, label] as const), [org.id, org.name]])
  const names: Names = { actor: nameOf, resource: (id) => labels.get(id) ?? nameOf(id) }
  return (
    <div className="rows">
      <Table layout="fixed" miw={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={46} aria-label="Details" />
            <Table.Th w={220}>What happened</Table.Th>
            <Table.Th>By</Table.Th>
            <Table.Th>To</Table.Th>
            <Table.Th w={140}>When</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <EntryRow key={entry.id} entry={entry} names={names} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

type Pages = Pick<
  ReturnType<typeof useInfiniteQuery>,
  'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'fetchNextPage'
>

/** The next page, when the end of this one comes into sight. After a failure only when asked. */
function More({ query, shown }: { query: Pages; shown: number }) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  const { ref, entry } = useIntersection({ rootMargin: '400px' })
  const inSight = entry?.isIntersecting ?? false
  useEffect(() => {
    if (inSight && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage()
  }, [inSight, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])
  if (shown === 0) return null
  return (
    <Center mt="md" ref={ref}>
      {hasNextPage ? (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      ) : (
        <Text size="xs" c="dimmed">
          That is all: {shown === 1 ? 'one entry' : `${shown} entries`}.
        </Text>
      )}
    </Center>
  )
}

function Export({ entries }: { entries: Entry[] }) {
  const { org } = Route.useRouteContext()
  const name = `audit-${org.slug}-${new Date().toISOString().slice(0, 10)}`
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />}>
          Export what is shown
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => download(`${name}.json`, 'application/json', jsonOf(entries))}>JSON</Menu.Item>
        <Menu.Item onClick={() => download(`${name}.csv`, 'text/csv', csvOf(entries))}>CSV</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
