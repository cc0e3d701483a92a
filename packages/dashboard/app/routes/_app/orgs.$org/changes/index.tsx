import { Button, Center, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { type ChangeRequest, changesQuery } from '../../../../changes/queries.ts'
import { filterOf } from '../../../../changes/search.ts'
import { StatusBadge, sayAction } from '../../../../changes/words.tsx'
import { placesQuery } from '../../../../people/places.ts'
import { useNameOf } from '../../../../secrets/use-name-of.ts'
import { Empty } from '../../../../ui/empty.tsx'
import { AnchorLink } from '../../../../ui/links.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page } from '../../../../ui/page.tsx'
import { RelativeTime } from '../../../../ui/relative-time.tsx'

// Fetched by itself: the list is there sooner.
const Filters = lazy(async () => ({ default: (await import('../../../../changes/filters.tsx')).Filters }))

export const Route = createFileRoute('/_app/orgs/$org/changes/')({
  validateSearch: filterOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient, org }, deps }) =>
    void queryClient.prefetchInfiniteQuery(changesQuery(org.id, deps)),
  component: Changes,
})

function Changes() {
  const { org } = Route.useRouteContext()
  const filter = Route.useSearch()
  const navigate = Route.useNavigate()
  const query = useInfiniteQuery(changesQuery(org.id, filter))
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  return (
    <Page title="Changes" description="What waits for approval in protected environments, and what became of the rest.">
      <Suspense fallback={<div style={{ height: 46 }} />}>
        <Filters filter={filter} onChange={(search) => navigate({ search, replace: true })} />
      </Suspense>
      <Loaded query={query}>
        {({ pages }) => {
          const changes = pages.flatMap(({ changeRequests }) => changeRequests)
          return changes.length === 0 ? (
            <Nothing open={(filter.status ?? 'open') === 'open'} />
          ) : (
            <Rows changes={changes} />
          )
        }}
      </Loaded>
      {hasNextPage && (
        <Center mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more
          </Button>
        </Center>
      )}
    </Page>
  )
}

function Nothing({ open }: { open: boolean }) {
  const { org } = Route.useRouteContext()
  return (
    <Empty title={open ? 'Nothing waits' : 'No such change'} command={`skerry changes list --org ${org.slug}`}>
      Where an environment is protected, changes of its secrets wait here until others approve them. Protect one on its
      page, under Access and settings.
    </Empty>
  )
}

function Rows({ changes }: { changes: ChangeRequest[] }) {
  const { org } = Route.useRouteContext()
  const nameOf = useNameOf(org.id)
  const { data: places } = useQuery(placesQuery(org.id))
  const placeOf = (id: string) => places?.find((place) => place.id === id)?.label ?? id
  return (
    <div className="rows">
      <Table layout="fixed" miw={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="36%">Change</Table.Th>
            <Table.Th>Environment</Table.Th>
            <Table.Th>Proposed by</Table.Th>
            <Table.Th w={130}>When</Table.Th>
            <Table.Th w={130}>Status</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map((change) => (
            <Table.Tr key={change.id}>
              <Table.Td>
                <AnchorLink
                  to="/orgs/$org/changes/$change"
                  params={{ org: org.slug, change: change.id }}
                  size="sm"
                  truncate
                  display="block"
                  title={change.secretName}
                >
                  {sayAction(change)} <span className="mono">{change.secretName}</span>
                </AnchorLink>
                {change.note && (
                  <Text size="xs" c="dimmed" truncate title={change.note}>
                    {change.note}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Text size="sm" truncate title={placeOf(change.environmentId)}>
                  {placeOf(change.environmentId)}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm" truncate title={nameOf(change.proposedById)}>
                  {nameOf(change.proposedById)}
                </Text>
              </Table.Td>
              <Table.Td>
                <RelativeTime at={change.createdAt} />
              </Table.Td>
              <Table.Td>
                <StatusBadge status={change.status} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
