import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'

/** A page of a list that is on the page already. */
const pageRows = 50

/**
 * Shows the rows of a loaded list page by page, so that a team of 500 people does not block the browser. The list searches all
 * rows.
 */
export function useShown<T, R>(
  query: UseQueryResult<T>,
  rowsOf: (data: T) => readonly R[],
  textOf: (row: R) => string,
) {
  const [count, setCount] = useState(pageRows)
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const found = (data: T) => rowsOf(data).filter((row) => textOf(row).toLowerCase().includes(wanted))
  return {
    search,
    setSearch,
    all: query.data === undefined ? 0 : rowsOf(query.data).length,
    rows: (data: T): R[] => found(data).slice(0, count),
    query: {
      ...query,
      hasNextPage: query.data !== undefined && found(query.data).length > count,
      isFetchingNextPage: false,
      isFetchNextPageError: false,
      fetchNextPage: async () => setCount((before) => before + pageRows),
    },
  }
}
