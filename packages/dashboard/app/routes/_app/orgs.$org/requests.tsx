import '../../../requests/requests.css'
import { Button, SegmentedControl } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { type CreateSearch, parseCreateSearch } from '../../../create-search.ts'
import { RequestList } from '../../../requests/request-list.tsx'
import { Page } from '../../../ui/page.tsx'

// This part of the page is loaded when it first opens.
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
      <RequestList status={answered ? 'closed' : 'open'} />
      <Suspense>{create && <AskDialog orgId={org.id} onClose={() => navigate({ search: {} })} />}</Suspense>
    </Page>
  )
}
