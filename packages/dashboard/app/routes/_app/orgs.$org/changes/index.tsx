import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { ChangeList } from '../../../../changes/list.tsx'
import { changesQuery } from '../../../../changes/queries.ts'
import { filterOf } from '../../../../changes/search.ts'
import { Page } from '../../../../ui/page.tsx'

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
  const filter = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <Page title="Changes">
      <Suspense fallback={<div style={{ height: 46 }} />}>
        <Filters filter={filter} onChange={(search) => navigate({ search, replace: true })} />
      </Suspense>
      <ChangeList filter={filter} />
    </Page>
  )
}
