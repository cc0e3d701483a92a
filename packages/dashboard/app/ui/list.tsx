import { Button, Center, Group, Table, Text, UnstyledButton } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { IconChevronDown, IconChevronsUpDown, IconChevronUp } from './icons.ts'
import { type ListColumn, ListRow, type RowProps } from './list-row.tsx'
import { Loaded } from './loaded.tsx'
import { nextSorting, type Sorting, sortRows } from './sort-rows.ts'

export type { ListColumn, RowAction } from './list-row.tsx'

/** A query with several pages, as `useInfiniteQuery` returns it. */
interface Pages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage: () => Promise<unknown>
}

interface Props<R> extends RowProps<R> {
  /** The name of the list for screen readers. */
  label: string
  columns: ListColumn<R>[]
  /** Below this width in pixels the table scrolls sideways. On phones each row becomes a card instead. */
  minWidth?: number
  /** Shown instead of a list without rows. */
  empty: ReactNode
  /** Shown beside the button for the next page, for example how far a search has come. */
  remark?: ReactNode
}

/**
 * A table of a query's rows. It also shows the loading state, a failure and the empty list, and loads further pages if
 * the query has them.
 *
 * @example
 * <List query={query} rows={({ sessions }) => sessions} label="CLI sessions" columns={columns} rowId={({ id }) => id}
 *   rowName={({ deviceLabel }) => deviceLabel} empty={<Empty title="No CLI sessions" />} />
 */
export function List<T, R extends object>(
  props: Props<R> & { query: UseQueryResult<T> | (UseQueryResult<T> & Pages); rows: (data: T) => R[] },
) {
  const { query, rows, ...list } = props
  return (
    <Loaded query={query}>
      {(data) => {
        const all = rows(data)
        const hasMore = 'fetchNextPage' in query && query.hasNextPage
        if (all.length === 0 && !hasMore) return list.empty
        return (
          <>
            {all.length > 0 && <Rows rows={all} {...list} />}
            {'fetchNextPage' in query && <NextPage pages={query} count={all.length} remark={list.remark} />}
          </>
        )
      }}
    </Loaded>
  )
}

function Rows<R extends object>(props: Props<R> & { rows: R[] }) {
  const { rows, columns, label, minWidth = 0, rowId } = props
  const [sorting, setSorting] = useState<Sorting | null>(null)
  return (
    <div className="list">
      <Table layout="fixed" role="table" aria-label={label} style={{ '--list-min-width': `${minWidth}px` }}>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {props.details && <Table.Th role="columnheader" w={46} aria-label="Details" />}
            {columns.map((column) => (
              <ColumnHead
                key={column.header}
                column={column}
                order={sorting?.header === column.header ? sorting.order : undefined}
                onSort={() => setSorting(nextSorting(sorting, column.header))}
              />
            ))}
            {(props.action || props.actions) && (
              <Table.Th role="columnheader" w={props.actions ? 64 : 130} aria-label="Actions" />
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {sortRows(rows, columns, sorting).map((row) => (
            <ListRow key={rowId(row)} row={row} {...props} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

const sortIcons = { ascending: IconChevronUp, descending: IconChevronDown, none: IconChevronsUpDown }

function ColumnHead<R>(props: { column: ListColumn<R>; order: Sorting['order'] | undefined; onSort: () => void }) {
  const { column, order, onSort } = props
  const { header, width, sort } = column
  const size = width === undefined ? {} : { w: width }
  if (!sort)
    return (
      <Table.Th role="columnheader" {...size}>
        {header}
      </Table.Th>
    )
  const Icon = sortIcons[order ?? 'none']
  return (
    <Table.Th role="columnheader" {...size} {...(order ? { 'aria-sort': order } : {})}>
      <UnstyledButton className="list-sort" data-sorted={order} onClick={onSort}>
        {header}
        <Icon size={14} aria-hidden />
      </UnstyledButton>
    </Table.Th>
  )
}

/** Loads the next page when the end of the list comes into sight. After a failure it loads only on a click. */
function NextPage({ pages, count, remark }: { pages: Pages; count: number; remark: ReactNode }) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = pages
  const { ref, entry } = useIntersection({ rootMargin: '400px' })
  const inSight = entry?.isIntersecting ?? false
  useEffect(() => {
    if (inSight && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage()
  }, [inSight, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])
  return (
    <Center mt="md" ref={ref}>
      {hasNextPage ? (
        <Group gap="md">
          {remark}
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </Group>
      ) : (
        <Text size="xs" c="dimmed">
          {count === 1 ? 'One entry' : `All ${count} entries`}
        </Text>
      )}
    </Center>
  )
}
