import { createFileRoute } from '@tanstack/react-router'
import { LogSinkStatus } from '../../../log-sink/status.tsx'
import { ForAdmins } from '../../../ui/for-admins.tsx'
import { Page } from '../../../ui/page.tsx'

export const Route = createFileRoute('/_app/orgs/$org/log-sink')({ component: LogSinkPage })

function LogSinkPage() {
  return (
    <Page
      title="Log sink"
      about="A collector of OpenTelemetry logs that is sent every entry of the audit log. It gets no values: the server never has them."
      width="text"
    >
      <ForAdmins>
        <LogSinkStatus />
      </ForAdmins>
    </Page>
  )
}
