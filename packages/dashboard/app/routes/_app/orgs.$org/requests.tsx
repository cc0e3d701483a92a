import '../../../requests/requests.css'
import { Button, SegmentedControl } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { type CreateSearch, parseCreateSearch } from '../../../create-search.ts'
import { Page } from '../../../ui/page.tsx'

// The list is loaded after the frame of the page, and the dialog when it first opens.
const RequestList = lazy(async () => ({ default: (await import('../../../requests/request-list.tsx')).RequestList }))
const AskDialog = lazy(async () => ({ default: (await import('../../../requests/ask.tsx')).AskDialog }))

interface RequestsSearch extends CreateSearch {
  answered?: true
}

export const Route = createFileRoute('/_app/orgs/$org/requests')({
  validateSearch: (search): RequestsSearch => ({
    ...parseCreateSearch(search),
    ...(search.answered === true ? { answered: true as const } : {}),
  }),
  component: Requests,
})

function Requests() {
  const { org } = Route.useRouteContext()
  const { create, answered } = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <Page
      title="Requests"
      actions={
        <Button variant="default" onClick={() => navigate({ search: { create: true } })}>
          Ask for access
        </Button>
      }
    >
      <div className="requests-tools">
        <SegmentedControl
          aria-label="Which requests"
          value={answered ? 'answered' : 'open'}
          data={[
            { value: 'open', label: 'Open' },
            { value: 'answered', label: 'Answered' },
          ]}
          onChange={(value) => navigate({ search: value === 'answered' ? { answered: true } : {}, replace: true })}
        />
      </div>
      <Suspense>
        <RequestList status={answered ? 'closed' : 'open'} />
      </Suspense>
      <Suspense>{create && <AskDialog orgId={org.id} onClose={() => navigate({ search: {} })} />}</Suspense>
    </Page>
  )
}
