import { createFileRoute } from '@tanstack/react-router'
import { ChangeList } from '../../../../../changes/list.tsx'
import { AppPage, useApp } from '../../../../../secrets/use-app.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/changes')({ component: Changes })

/** The changes of the application’s protected environments, open and closed. */
function Changes() {
  const { app } = useApp()
  return (
    <AppPage part="Changes">
      <ChangeList filter={{ status: 'all', applicationId: app.id }} />
    </AppPage>
  )
}
