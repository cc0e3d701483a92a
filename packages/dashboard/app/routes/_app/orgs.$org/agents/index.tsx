import { Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { AgentList } from '../../../../agents/agent-list.tsx'
import { agentsQuery } from '../../../../agents/queries.ts'
import { api } from '../../../../api.ts'
import { parseCreateSearch } from '../../../../create-search.ts'
import { ForAdmins } from '../../../../ui/for-admins.tsx'
import { IconPlus } from '../../../../ui/icons.ts'
import { Page } from '../../../../ui/page.tsx'

// This part of the page is loaded when it first opens.
const CreateDialog = lazy(async () => ({
  default: (await import('../../../../secrets/create-dialog.tsx')).CreateDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/agents/')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(agentsQuery(org.id))
  },
  component: Agents,
})

function Agents() {
  const { org } = Route.useRouteContext()
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  const newButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ search: { create: true } })}>
      New agent
    </Button>
  )
  return (
    <Page title="Agents" actions={org.role !== 'member' && newButton}>
      <ForAdmins>
        <AgentList />
        <Suspense>
          {create && (
            <CreateDialog
              title="New agent"
              placeholder="Release builder"
              onCreate={(body) => api.agents.create({ params: { orgId: org.id }, body })}
              stale={[agentsQuery(org.id)]}
              onClose={() => navigate({ search: {} })}
            />
          )}
        </Suspense>
      </ForAdmins>
    </Page>
  )
}
