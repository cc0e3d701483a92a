import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../../create-search.ts'
import { LeasesPage } from '../../../../leases/leases-page.tsx'
import { targetsQuery } from '../../../../leases/queries.ts'
import { TargetList } from '../../../../leases/target-list.tsx'

// This part of the page is loaded when it first opens.
const NewTargetDialog = lazy(async () => ({
  default: (await import('../../../../leases/new-target.tsx')).NewTargetDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/leases/targets')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(targetsQuery(org.id))
  },
  component: Targets,
})

function Targets() {
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <LeasesPage part="Targets" newLabel="New target">
      <TargetList />
      <Suspense>{create && <NewTargetDialog onClose={() => navigate({ search: {} })} />}</Suspense>
    </LeasesPage>
  )
}
