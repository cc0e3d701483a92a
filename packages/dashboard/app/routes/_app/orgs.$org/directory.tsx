import { createFileRoute } from '@tanstack/react-router'
import { DirectoryPage } from '../../../trust/directory-page.tsx'
import { Page } from '../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/directory')({ component: Directory })

function Directory() {
  return (
    <Page title="Signed directory" width="text">
      <DirectoryPage />
    </Page>
  )
}
