import { Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { List, type ListColumn } from '../ui/list.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { EntryDetails, Environment, Owner, placeOf, Sentence } from './entry.tsx'
import { NewEntries } from './new-entries.tsx'
import { type AuditFilter, auditQuery, type Entry, type EntryEnvironment } from './queries.ts'

/** The entries of the audit log that match the filter, for admins. `isOfApplication` leaves out the application’s column. */
export function Entries(props: { filter: AuditFilter; isOfApplication?: boolean; empty: ReactNode }) {
  const { filter, isOfApplication = false, empty } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useInfiniteQuery({ ...auditQuery(org.id, filter), enabled: org.role !== 'member' })
  const pages = query.data?.pages ?? []
  const names = Object.assign({}, ...pages.map((page) => page.names))
  const columns = useColumns(names, Object.assign({}, ...pages.map(({ environments }) => environments)))
  const searchedUntil = pages.at(-1)?.searchedUntil
  return (
    <>
      {query.data && (
        <NewEntries
          filter={filter}
          shown={{ entries: pages.flatMap(({ entries }) => entries), atMs: query.dataUpdatedAt }}
        />
      )}
      <List
        label="Audit log"
        query={query}
        rows={({ pages }) => pages.flatMap((page) => page.entries)}
        columns={isOfApplication ? columns.filter(({ header }) => header !== 'Application') : columns}
        minWidth={760}
        rowId={({ id }) => id}
        rowName={({ action }) => action}
        details={(entry) => <EntryDetails entry={entry} />}
        remark={
          searchedUntil && (
            <Text size="sm" c="dimmed">
              Searched back to <RelativeTime at={searchedUntil} />
            </Text>
          )
        }
        empty={empty}
      />
    </>
  )
}

/** Returns the columns. `names` came with the entries, and names resources as well as people. */
function useColumns(
  names: Record<string, string>,
  environments: Record<string, EntryEnvironment>,
): ListColumn<Entry>[] {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOfHolder = useNameOf(org.id)
  const { data: places } = useQuery(environmentLabelsQuery(org.id))
  const labels = new Map([...(places ?? []).map(({ id, label }) => [id, label] as const), [org.id, org.name]])
  const nameOf = (id: string) => {
    const holder = nameOfHolder(id)
    return labels.get(id) ?? names[id] ?? (holder === id ? undefined : holder)
  }
  return [
    { header: 'What happened', cell: (entry) => <Sentence entry={entry} nameOf={nameOf} /> },
    { header: 'Application', cell: (entry) => <Owner place={placeOf(entry, environments)} />, width: 150 },
    { header: 'Environment', cell: (entry) => <Environment place={placeOf(entry, environments)} />, width: 170 },
    { header: 'When', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, width: 140 },
  ]
}
