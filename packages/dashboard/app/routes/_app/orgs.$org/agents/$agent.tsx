import { Badge, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, notFound } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { EditAgent } from '../../../../agents/lazy.ts'
import { type Agent, agentsQuery } from '../../../../agents/queries.ts'
import { Tasks } from '../../../../agents/tasks.tsx'
import { Versions } from '../../../../agents/versions.tsx'
import { environmentLabelsQuery } from '../../../../people/environment-labels.ts'
import { ForAdmins } from '../../../../ui/for-admins.tsx'
import { Page } from '../../../../ui/page.tsx'
import { useDialog } from '../../../../ui/use-dialog.ts'

// The activity is below the rest, so it may load later.
const Activity = lazy(async () => ({ default: (await import('../../../../agents/activity.tsx')).Activity }))

/** The page of one agent. The loader finds the agent by its slug. */
export const Route = createFileRoute('/_app/orgs/$org/agents/$agent')({
  loader: async ({ context: { queryClient, org }, params }) => {
    if (org.role === 'member') return { first: null }
    const agents = await queryClient.ensureQueryData(agentsQuery(org.id))
    const first = agents.find(({ slug }) => slug === params.agent)
    if (!first) throw notFound()
    return { first }
  },
  component: AgentPage,
})

function AgentPage() {
  const { org } = Route.useRouteContext()
  const { first } = Route.useLoaderData()
  const { data } = useQuery({ ...agentsQuery(org.id), enabled: first !== null })
  const editing = useDialog()
  const agent = data?.find(({ id }) => id === first?.id) ?? first
  return (
    <Page
      title={agent?.name ?? 'Agent'}
      crumbs={[{ label: 'Agents', link: { to: '/orgs/$org/agents', params: { org: org.slug } } }]}
      about={agent && <Binding agent={agent} />}
      actions={
        agent && (
          <Button variant="default" onClick={() => editing.open()}>
            Edit…
          </Button>
        )
      }
    >
      <ForAdmins>
        {agent && (
          <>
            <Versions agent={agent} />
            <Tasks agent={agent} />
            <Suspense>
              <Activity agent={agent} />
            </Suspense>
            <Suspense>
              {editing.show((onClose) => (
                <EditAgent agent={agent} onClose={onClose} />
              ))}
            </Suspense>
          </>
        )}
      </ForAdmins>
    </Page>
  )
}

/** Shows the environment that the agent is bound to, and whether the agent is disabled. */
function Binding({ agent }: { agent: Agent }) {
  const { org } = Route.useRouteContext()
  const { data: places } = useQuery({ ...environmentLabelsQuery(org.id), enabled: agent.environmentId !== null })
  const place = places?.find(({ id }) => id === agent.environmentId)
  return (
    <>
      {agent.environmentId === null ? 'bound to no environment' : place && `bound to ${place.label}`}
      {!agent.enabled && (
        <Badge color="gray" variant="light">
          disabled
        </Badge>
      )}
    </>
  )
}
