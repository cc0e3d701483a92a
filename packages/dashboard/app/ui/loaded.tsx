import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ProblemAlert } from './problem.tsx'

/** Renders a query that is loading, has failed or has loaded. */
export function Loaded<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error) return <ProblemAlert error={query.error} retry={() => query.refetch()} />
  return (
    <div className="loading" role="status" aria-busy="true" aria-label="Loading">
      <span />
      <span />
      <span />
    </div>
  )
}
