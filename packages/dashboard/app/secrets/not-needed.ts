import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Details, detailsQuery } from '../drawer/queries.ts'
import type { Column } from './columns.ts'

type DetailsByName = ReadonlyMap<string, Details>

const dataOf = (results: UseQueryResult<DetailsByName>[]) => results.map(({ data }) => data)

/** Returns the columns with the names that their environments do not need. Only holders of a key may read details. */
export function useNotNeeded(orgId: string, columns: Column[]): Column[] {
  const ids = columns.filter(({ own }) => own !== null).map(({ environmentId }) => environmentId)
  const details = useQueries({ queries: ids.map((id) => detailsQuery(orgId, id)), combine: dataOf })
  const key = ids.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says all of ids
  return useMemo(() => {
    const found = new Map(ids.map((id, i) => [id, namesIn(details[i])]))
    return columns.map((column) => {
      const notNeeded = found.get(column.environmentId)
      return notNeeded === undefined || notNeeded.size === 0 ? column : { ...column, notNeeded }
    })
  }, [columns, key, details])
}

const namesIn = (details: DetailsByName | undefined): ReadonlySet<string> =>
  new Set([...(details?.values() ?? [])].filter(({ notNeeded }) => notNeeded).map(({ name }) => name))
