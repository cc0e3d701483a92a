import '../../../requests/requests.css'
import { SegmentedControl } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { AccessByEnvironment, AccessByHolder } from '../../../people/access-overview.tsx'
import { ForAdmins } from '../../../ui/for-admins.tsx'
import { Page } from '../../../ui/page.tsx'

interface AccessSearch {
  by?: 'environment'
}

export const Route = createFileRoute('/_app/orgs/$org/access')({
  validateSearch: (search): AccessSearch => (search.by === 'environment' ? { by: 'environment' } : {}),
  component: WhoCanRead,
})

function WhoCanRead() {
  const { by } = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <Page title="Access overview">
      <ForAdmins>
        <div className="requests-tools">
          <SegmentedControl
            aria-label="Order"
            value={by ?? 'holder'}
            data={[
              { value: 'holder', label: 'By holder' },
              { value: 'environment', label: 'By environment' },
            ]}
            onChange={(value) =>
              navigate({ search: value === 'environment' ? { by: 'environment' as const } : {}, replace: true })
            }
          />
        </div>
        {by === 'environment' ? <AccessByEnvironment /> : <AccessByHolder />}
      </ForAdmins>
    </Page>
  )
}
