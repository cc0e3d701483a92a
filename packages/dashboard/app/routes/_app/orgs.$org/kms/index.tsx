import { Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../../create-search.ts'
import { KeyList } from '../../../../kms/key-list.tsx'
import { managedKeysQuery } from '../../../../kms/queries.ts'
import { IconPlus } from '../../../../ui/icons.ts'
import { Page } from '../../../../ui/page.tsx'

// This part of the page is loaded when it first opens.
const NewKeyDialog = lazy(async () => ({ default: (await import('../../../../kms/new-key.tsx')).NewKeyDialog }))

export const Route = createFileRoute('/_app/orgs/$org/kms/')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => void queryClient.prefetchQuery(managedKeysQuery(org.id)),
  component: ManagedKeys,
})

function ManagedKeys() {
  const { org } = Route.useRouteContext()
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  const isAdmin = org.role !== 'member'
  return (
    <Page
      title="Managed keys"
      actions={
        isAdmin && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ search: { create: true } })}>
            New managed key
          </Button>
        )
      }
    >
      <KeyList />
      <Suspense>{create && isAdmin && <NewKeyDialog onClose={() => navigate({ search: {} })} />}</Suspense>
    </Page>
  )
}
