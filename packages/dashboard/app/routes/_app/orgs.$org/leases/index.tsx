import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../../create-search.ts'
import type { MadeAccess } from '../../../../leases/get-access.tsx'
import { LeasesPage } from '../../../../leases/leases-page.tsx'
import { Ledger } from '../../../../leases/ledger.tsx'
import { ledgerQuery, targetsQuery } from '../../../../leases/queries.ts'
import { useMade } from '../../../../tokens/shown-when-made.tsx'

// Each dialog is loaded when it first opens.
const GetAccessDialog = lazy(async () => ({
  default: (await import('../../../../leases/get-access.tsx')).GetAccessDialog,
}))
const AccessShown = lazy(async () => ({ default: (await import('../../../../leases/access-shown.tsx')).AccessShown }))

export const Route = createFileRoute('/_app/orgs/$org/leases/')({
  validateSearch: (search: Record<string, unknown>) => ({
    ...parseCreateSearch(search),
    // The target that the dialog selects at first.
    ...(typeof search.target === 'string' ? { target: search.target } : {}),
  }),
  loader: ({ context: { queryClient, org } }) => {
    if (org.role === 'member') return
    void queryClient.prefetchInfiniteQuery(ledgerQuery(org.id))
    void queryClient.prefetchQuery(targetsQuery(org.id))
  },
  component: Leases,
})

function Leases() {
  const { create, target = null } = Route.useSearch()
  const navigate = Route.useNavigate()
  const made = useMade<MadeAccess>()
  return (
    <LeasesPage part="Ledger" newLabel="Get access">
      <Ledger />
      <Suspense>
        {made.isShown ? (
          <AccessShown access={made.value} onClose={made.forget} />
        ) : (
          create && <GetAccessDialog targetId={target} onClose={() => navigate({ search: {} })} onMade={made.show} />
        )}
      </Suspense>
    </LeasesPage>
  )
}
