import { Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../create-search.ts'
import { rotationsQuery } from '../../../rotation/queries.ts'
import { RotationList } from '../../../rotation/rotation-list.tsx'
import { ForAdmins } from '../../../ui/for-admins.tsx'
import { IconPlus } from '../../../ui/icons.ts'
import { Page } from '../../../ui/page.tsx'

// This part of the page is loaded when it first opens.
const NewRotationDialog = lazy(async () => ({
  default: (await import('../../../rotation/new-rotation.tsx')).NewRotationDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/rotation')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(rotationsQuery(org.id))
  },
  component: RotationPage,
})

function RotationPage() {
  const { org } = Route.useRouteContext()
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  const newButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ search: { create: true } })}>
      New rotation
    </Button>
  )
  return (
    <Page
      title="Rotation"
      about="This server replaces these secrets at intervals. It can read every environment that has one of them."
      actions={org.role !== 'member' && newButton}
    >
      <ForAdmins>
        <RotationList />
        <Suspense>{create && <NewRotationDialog onClose={() => navigate({ search: {} })} />}</Suspense>
      </ForAdmins>
    </Page>
  )
}
