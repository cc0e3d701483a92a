import { createFileRoute } from '@tanstack/react-router'
import { runsQuery } from '../../../../sync/queries.ts'
import { RunList } from '../../../../sync/run-list.tsx'
import { SyncPage } from '../../../../sync/sync-page.tsx'

/** If `binding` is set, the page lists the runs of that binding only. */
interface Search {
  binding?: string
}

const parseSearch = ({ binding }: Record<string, unknown>): Search => (typeof binding === 'string' ? { binding } : {})

export const Route = createFileRoute('/_app/orgs/$org/sync/runs')({
  validateSearch: parseSearch,
  loaderDeps: ({ search: { binding } }) => ({ binding }),
  loader: ({ context: { queryClient, org }, deps: { binding } }) => {
    if (org.role !== 'member') void queryClient.prefetchInfiniteQuery(runsQuery(org.id, binding))
  },
  component: Runs,
})

function Runs() {
  const { binding } = Route.useSearch()
  return (
    <SyncPage part="Runs">
      <RunList bindingId={binding} />
    </SyncPage>
  )
}
