import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { type CreateSearch, parseCreateSearch } from '../../../../create-search.ts'
import { BindingList } from '../../../../sync/binding-list.tsx'
import { bindingsQuery } from '../../../../sync/queries.ts'
import { SyncPage } from '../../../../sync/sync-page.tsx'

// This part of the page is loaded when it first opens.
const NewBindingDialog = lazy(async () => ({
  default: (await import('../../../../sync/new-binding.tsx')).NewBindingDialog,
}))

interface Search extends CreateSearch {
  /** The connection for the new binding. */
  connection?: string
}

const parseSearch = (search: Record<string, unknown>): Search => ({
  ...parseCreateSearch(search),
  ...(typeof search.connection === 'string' ? { connection: search.connection } : {}),
})

export const Route = createFileRoute('/_app/orgs/$org/sync/')({
  validateSearch: parseSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(bindingsQuery(org.id))
  },
  component: Bindings,
})

function Bindings() {
  const { create, connection } = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <SyncPage part="Bindings" newLabel="Bind an environment">
      <BindingList />
      <Suspense>{create && <NewBindingDialog of={connection} onClose={() => navigate({ search: {} })} />}</Suspense>
    </SyncPage>
  )
}
