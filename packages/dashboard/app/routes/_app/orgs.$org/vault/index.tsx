import { Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../../create-search.ts'
import { ForAdmins } from '../../../../ui/for-admins.tsx'
import { IconPlus } from '../../../../ui/icons.ts'
import { Page } from '../../../../ui/page.tsx'
import { ProjectList } from '../../../../vault/project-list.tsx'
import { projectsQuery } from '../../../../vault/queries.ts'

// This part of the page is loaded when it first opens.
const NewProjectDialog = lazy(async () => ({
  default: (await import('../../../../vault/project-dialogs.tsx')).NewProjectDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/vault/')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(projectsQuery(org.id))
  },
  component: Vault,
})

function Vault() {
  const { org } = Route.useRouteContext()
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  const newButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ search: { create: true } })}>
      New project
    </Button>
  )
  return (
    <Page title="Vault" actions={org.role !== 'member' && newButton}>
      <ForAdmins>
        <ProjectList />
        <Suspense>{create && <NewProjectDialog onClose={() => navigate({ search: {} })} />}</Suspense>
      </ForAdmins>
    </Page>
  )
}
