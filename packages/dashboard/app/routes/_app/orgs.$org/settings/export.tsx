import { createFileRoute } from '@tanstack/react-router'
import { Export } from '../../../../export/export.tsx'
import { SettingsPage } from '../../../../settings/settings-page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/settings/export')({ component: ExportPage })

function ExportPage() {
  return (
    <SettingsPage part="Export">
      <Export />
    </SettingsPage>
  )
}
