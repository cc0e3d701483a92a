import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { StatusBadge, titleOf } from '../../../../changes/labels.tsx'
import { type ChangeRequest, changesQuery } from '../../../../changes/queries.ts'
import { filterOf } from '../../../../changes/search.ts'
import { environmentLabelsQuery } from '../../../../people/environment-labels.ts'
import { useNameOf } from '../../../../secrets/use-name-of.ts'
import { OneLine, TwoLines } from '../../../../ui/cells.tsx'
import { Empty } from '../../../../ui/empty.tsx'
import { AnchorLink } from '../../../../ui/links.tsx'
import { List, type ListColumn } from '../../../../ui/list.tsx'
import { Page } from '../../../../ui/page.tsx'
import { RelativeTime } from '../../../../ui/relative-time.tsx'

// Loaded separately, so that the list appears sooner.
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
  return (
    <Page title="Changes">
      <Suspense fallback={<div style={{ height: 46 }} />}>
        <Filters filter={filter} onChange={(search) => navigate({ search, replace: true })} />
      </Suspense>
      <List
        label="Changes"
        query={useInfiniteQuery(changesQuery(org.id, filter))}
        rows={({ pages }) => oneOfEach(pages.flatMap(({ changeRequests }) => changeRequests))}
        columns={useColumns()}
        minWidth={760}
        rowId={({ id }) => id}
        rowName={({ secretName }) => secretName}
        empty={<Nothing open={(filter.status ?? 'open') === 'open'} />}
      />
    </Page>
  )
}

/** Keeps one change of each group, because changes that are decided together are one row. */
const oneOfEach = (changes: ChangeRequest[]): ChangeRequest[] => [
  ...new Map(changes.map((change) => [change.groupId ?? change.id, change])).values(),
]

function Nothing({ open }: { open: boolean }) {
  const { org } = Route.useRouteContext()
  return (
    <Empty title={open ? 'Nothing waits' : 'No such change'} command={`skerry changes ls --org ${org.slug}`}>
      Where an environment is protected, changes of its secrets wait here until others approve them. Protect one on its
      page, under Protection.
    </Empty>
  )
}

function useColumns(): ListColumn<ChangeRequest>[] {
  const { org } = Route.useRouteContext()
  const nameOf = useNameOf(org.id)
  const { data: places } = useQuery(environmentLabelsQuery(org.id))
  const placeOf = (id: string) => places?.find((place) => place.id === id)?.label ?? id
  return [
    { header: 'Change', cell: (change) => <Summary change={change} />, width: '36%' },
    { header: 'Environment', cell: ({ environmentId }) => <OneLine text={placeOf(environmentId)} /> },
    { header: 'Proposed by', cell: ({ proposedById }) => <OneLine text={nameOf(proposedById)} /> },
    { header: 'When', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, width: 130 },
    { header: 'Status', cell: ({ status }) => <StatusBadge status={status} />, width: 130 },
  ]
}

function Summary({ change }: { change: ChangeRequest }) {
  const { org } = Route.useRouteContext()
  const link = (
    <AnchorLink to="/orgs/$org/changes/$change" params={{ org: org.slug, change: change.id }} size="sm">
      {titleOf(change)}
    </AnchorLink>
  )
  return <TwoLines main={link} title={change.secretName} below={change.note} />
}
