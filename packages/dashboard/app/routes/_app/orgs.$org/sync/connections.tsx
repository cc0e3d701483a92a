import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../../create-search.ts'
import { ConnectionList } from '../../../../sync/connection-list.tsx'
import { connectionsQuery } from '../../../../sync/queries.ts'
import { SyncPage } from '../../../../sync/sync-page.tsx'

// This part of the page is loaded when it first opens.
const NewConnectionDialog = lazy(async () => ({
  default: (await import('../../../../sync/new-connection.tsx')).NewConnectionDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/sync/connections')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(connectionsQuery(org.id))
  },
  component: Connections,
})

function Connections() {
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <SyncPage part="Connections" newLabel="Connect a destination">
      <ConnectionList />
      <Suspense>{create && <NewConnectionDialog onClose={() => navigate({ search: {} })} />}</Suspense>
    </SyncPage>
  )
}
