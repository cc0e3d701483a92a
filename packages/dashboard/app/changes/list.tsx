import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { EnvName } from '../ui/env-name.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { StatusBadge, titleOf } from './labels.tsx'
import { type ChangeFilter, type ChangeRequest, changesQuery } from './queries.ts'

/** The changes that match the filter, newest first. */
export function ChangeList({ filter }: { filter: ChangeFilter }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <List
      label="Changes"
      query={useInfiniteQuery(changesQuery(org.id, filter))}
      rows={({ pages }) => oneOfEach(pages.flatMap(({ changeRequests }) => changeRequests))}
      columns={useColumns()}
      minWidth={760}
      rowId={({ id }) => id}
      rowName={titleOf}
      empty={<Nothing open={(filter.status ?? 'open') === 'open'} />}
    />
  )
}

/** Keeps one change of each group, because changes that are decided together are one row. */
const oneOfEach = (changes: ChangeRequest[]): ChangeRequest[] => [
  ...new Map(changes.map((change) => [change.groupId ?? change.id, change])).values(),
]

function Nothing({ open }: { open: boolean }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <Empty
      title={open ? 'No change waits for approval' : 'No such change'}
      command={`skerry changes ls --org ${org.slug}`}
    >
      Changes of the secrets in a protected environment wait here for approval. To protect an environment, open its page
      and choose Protection.
    </Empty>
  )
}

function useColumns(): ListColumn<ChangeRequest>[] {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const { data: places } = useQuery(environmentLabelsQuery(org.id))
  return [
    { header: 'Change', cell: (change) => <Summary change={change} />, width: '36%' },
    {
      header: 'Environment',
      cell: ({ environmentId }) => {
        const place = places?.find(({ id }) => id === environmentId)
        return place ? <EnvName name={place.label} slug={place.slug} /> : <OneLine text={environmentId} />
      },
    },
    {
      header: 'Proposed by',
      cell: ({ proposedById, proposerEnded }) => (
        <OneLine text={proposerEnded ? `${nameOf(proposedById)} (${proposerEnded})` : nameOf(proposedById)} />
      ),
    },
    { header: 'When', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, width: 130 },
    { header: 'Status', cell: ({ status }) => <StatusBadge status={status} />, width: 130 },
  ]
}

function Summary({ change }: { change: ChangeRequest }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const link = (
    <AnchorLink to="/orgs/$org/changes/$change" params={{ org: org.slug, change: change.id }} size="sm">
      {titleOf(change)}
    </AnchorLink>
  )
  return <TwoLines main={link} title={change.secretName ?? titleOf(change)} below={change.note} />
}
